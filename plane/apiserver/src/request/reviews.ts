import { reviewSelf, reviewToken } from '../authentication/identity-reviews.js';
import { reviewAccess, reviewOwnAccess, reviewOwnRules } from '../authorization/access-reviews.js';
import { methodNotAllowed } from '../errors.js';
import type { ApiObject } from '../json.js';
import { readObject } from './body.js';
import type { Exchange } from './exchange.js';
import type { RequestInfo } from './request-info.js';
import { reviewKinds } from './review-kinds.js';
import type { Server } from './server.js';

type ReviewPlural = (typeof reviewKinds)[number]['plural'];
type Review = (server: Server, exchange: Exchange, review: ApiObject) => unknown;

const reviews: Readonly<Record<ReviewPlural, Review>> = {
  selfsubjectreviews: reviewSelf,
  tokenreviews: reviewToken,
  selfsubjectaccessreviews: reviewOwnAccess,
  subjectaccessreviews: reviewAccess,
  localsubjectaccessreviews: reviewAccess,
  selfsubjectrulesreviews: reviewOwnRules,
};

/** Answers a review; false when the URL is not one. */
export async function serveReview(
  server: Server,
  exchange: Exchange,
  info: Extract<RequestInfo, { type: 'resource' }>,
): Promise<boolean> {
  const { request, reply } = exchange;
  const kind = reviewKinds.find(
    ({ group, version, plural }) => group === info.group && version === info.version && plural === info.plural,
  );
  if (kind === undefined) return false;
  const isInPlace = kind.isNamespaced === (info.namespace !== undefined);
  if (request.method !== 'POST' || info.name !== undefined || !isInPlace) throw methodNotAllowed();
  const { object } = await readObject(request, kind);
  await reply.object(201, await reviews[kind.plural](server, exchange, object));
  return true;
}
