import { StatusError } from '@castellan/machinery';
import type { ApiRequest, User } from '../server/http.js';
import { anonymousUser, authenticatedGroup } from './groups.js';
import type { ServiceAccountTokens } from './service-account-tokens.js';

/**
 * Who speaks: the client certificate's name, the service account of a bearer token, or nobody in particular. A token
 * that does not hold is refused, even for what is public.
 */
export async function authenticate(request: ApiRequest, tokens: ServiceAccountTokens): Promise<User> {
  const { certificateUser } = request;
  if (certificateUser !== undefined) {
    return { ...certificateUser, groups: [...certificateUser.groups, authenticatedGroup] };
  }
  const [, token] = /^Bearer\s+(\S+)/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) return anonymousUser;
  const verdict = await tokens.verify(token, [tokens.issuer]);
  if (!verdict.isValid) throw StatusError.of('Unauthorized', 'Unauthorized');
  return verdict.user;
}
