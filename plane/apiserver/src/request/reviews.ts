import { methodNotAllowed } from '../errors.js';
import { type ApiObject, at } from '../json.js';
import type { User } from '../server/http.js';
import { administratorsGroup } from './authorize.js';
import { readObject } from './body.js';
import type { Exchange, Server } from './handler.js';
import type { RequestInfo } from './request-info.js';

/** Kinds that are asked, never stored. */
export const reviewKinds = [
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    answer: (object: ApiObject, user: User) => ({ ...object, status: accessOf(user) }),
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    plural: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    answer: (object: ApiObject, user: User) => ({
      ...object,
      status: { userInfo: { username: user.name, groups: user.groups } },
    }),
  },
] as const;

/** Answers a review; false when the URL is not one. */
export async function serveReview(
  _server: Server,
  { request, user, reply }: Exchange,
  info: Extract<RequestInfo, { type: 'resource' }>,
): Promise<boolean> {
  const review = reviewKinds.find(
    ({ group, version, plural }) => group === info.group && version === info.version && plural === info.plural,
  );
  if (review === undefined) return false;
  if (request.method !== 'POST' || info.name !== undefined) throw methodNotAllowed();
  const { object } = await readObject(request, review);
  await reply.object(201, review.answer(object, user));
  return true;
}

function accessOf(user: User) {
  const allowed = user.groups.includes(administratorsGroup);
  return allowed ? { allowed } : { allowed, reason: at(user, 'name') ?? '' };
}
