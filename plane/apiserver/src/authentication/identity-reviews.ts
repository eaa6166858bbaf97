import { badRequest } from '../errors.js';
import { type ApiObject, at, list, text } from '../json.js';
import { timestamp } from '../registry/strategy.js';
import type { Exchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import type { User } from '../server/http.js';
import { verifyToken } from './authenticate.js';
import { writtenBy } from './review-metadata.js';

/** SelfSubjectReview: who the server takes the client for (`kubectl auth whoami`). */
export function reviewSelf(server: Server, { user }: Exchange, review: ApiObject) {
  return {
    kind: review.kind,
    apiVersion: review.apiVersion,
    metadata: { creationTimestamp: timestamp(server.world) },
    status: { userInfo: userInfo(user) },
  };
}

/** TokenReview: whether a token holds, and whose it is. */
export async function reviewToken(server: Server, { request }: Exchange, review: ApiObject) {
  const token = text(at(review, 'spec', 'token')) ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const asked = list(at(review, 'spec', 'audiences')).flatMap((audience) => text(audience) ?? []);
  const verdict = await verifyToken(token, asked.length === 0 ? [server.tokens.issuer] : asked, server);
  const status = verdict.isValid
    ? { authenticated: true, user: userInfo(verdict.user), audiences: verdict.audiences }
    : { user: {}, error: verdict.problem };
  return { ...review, metadata: writtenBy(server, request, review), status };
}

function userInfo({ name, uid, groups, extra }: User) {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}
