import { StatusError } from '@castellan/machinery';
import type { ApiRequest, User } from '../server/http.js';
import { anonymousUser, authenticatedGroup } from './groups.js';
import type { ServiceAccountTokens, TokenVerdict } from './service-account-tokens.js';
import type { StaticTokens } from './static-tokens.js';

/** Whom the server knows by a token. */
export interface KnownTokens {
  readonly tokens: ServiceAccountTokens;
  readonly staticTokens: StaticTokens;
}

/**
 * Who speaks: the client certificate's name, whoever the bearer token is of, or nobody in particular. A token that does
 * not hold is refused, even for what is public.
 */
export async function authenticate(request: ApiRequest, known: KnownTokens): Promise<User> {
  const { certificateUser } = request;
  if (certificateUser !== undefined) {
    return { ...certificateUser, groups: [...certificateUser.groups, authenticatedGroup] };
  }
  const [, token] = /^Bearer\s+(\S+)/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) return anonymousUser;
  const verdict = await verifyToken(token, [known.tokens.issuer], known);
  if (!verdict.isValid) throw StatusError.of('Unauthorized', 'Unauthorized');
  return verdict.user;
}

/** Tokens of the server's file are for the server alone; service accounts' say whom they are for. */
export async function verifyToken(
  token: string,
  audiences: readonly string[],
  { tokens, staticTokens }: KnownTokens,
): Promise<TokenVerdict> {
  const user = audiences.includes(tokens.issuer) ? staticTokens.get(token) : undefined;
  if (user !== undefined) return { isValid: true, user, audiences: [tokens.issuer] };
  return await tokens.verify(token, audiences);
}
