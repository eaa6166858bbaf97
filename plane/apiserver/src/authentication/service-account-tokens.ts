import { generateKeyPairSync } from 'node:crypto';
import type { World } from '@castellan/world';
import { type ApiObject, at, count, list, text } from '../json.js';
import type { Registry } from '../registry/registry.js';
import { credentialIdKey, type User } from '../server/http.js';
import { storageKey } from '../storage/keys.js';
import { authenticatedGroup } from './groups.js';
import { TokenSigner } from './json-web-token.js';
import { serviceAccountGroups, serviceAccountUserName } from './service-account-name.js';

/** Who may be named in a token, and until when it holds. */
export interface TokenClaims {
  readonly account: ApiObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** When its use becomes a matter for a warning: for a token that is let live longer than was asked for. */
  readonly warnAfterSeconds?: number;
  /** The pod, secret or node with which the token ends. */
  readonly bound?: BoundObject;
}

export interface BoundObject {
  readonly kind: BoundKind;
  readonly name: string;
  readonly uid: string;
  /** Of a pod: the node that it is bound to. */
  readonly node?: { readonly name: string; readonly uid: string };
}

export type BoundKind = 'pod' | 'secret' | 'node';

/** What a token says when it holds, or why it does not. */
export type TokenVerdict =
  | { readonly isValid: true; readonly user: User; readonly audiences: readonly string[] }
  | { readonly isValid: false; readonly problem: string };

const boundResources: Readonly<Record<BoundKind, string>> = { pod: 'pods', secret: 'secrets', node: 'nodes' };
const claimsField = 'kubernetes.io';
const extraPrefix = 'authentication.kubernetes.io/';
const deletionLeewayMs = 60_000;
const badToken = 'invalid bearer token';

/** Tokens of service accounts: signed here, good while the account, and what they are bound to, are there. */
export class ServiceAccountTokens {
  readonly issuer: string;
  private readonly registry: Registry;
  private readonly world: World;
  private readonly key: string | undefined;
  private ownSigner: TokenSigner | undefined;

  /** `key`: PEM of a private key; without one, tokens hold no longer than this process. */
  constructor(options: {
    readonly registry: Registry;
    readonly world: World;
    readonly issuer: string;
    readonly key?: string | undefined;
  }) {
    this.registry = options.registry;
    this.world = options.world;
    this.issuer = options.issuer;
    this.key = options.key;
  }

  issue({ account, audiences, expirationSeconds, warnAfterSeconds, bound }: TokenClaims): string {
    const now = Math.floor(this.world.clock.now() / 1000);
    const { name = '', namespace = '', uid = '' } = account.metadata;
    const warning = warnAfterSeconds === undefined ? {} : { warnafter: now + warnAfterSeconds };
    return this.signer().sign({
      aud: audiences,
      exp: now + expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: this.world.random.uuid(),
      [claimsField]: { namespace, ...boundClaims(bound), serviceaccount: { name, uid }, ...warning },
      nbf: now,
      sub: serviceAccountUserName(namespace, name),
    });
  }

  /** @param audiences any of which the token must be for. */
  async verify(token: string, audiences: readonly string[]): Promise<TokenVerdict> {
    const claims = this.signer().verify(token);
    if (claims === undefined || claims.iss !== this.issuer) return { isValid: false, problem: badToken };
    const told = list(claims.aud).flatMap((audience) => text(audience) ?? []);
    const common = told.filter((audience) => audiences.includes(audience));
    if (common.length === 0) {
      const problem = `token audiences ${quoted(told)} is invalid for the target audiences ${quoted(audiences)}`;
      return { isValid: false, problem: `[${badToken}, ${problem}]` };
    }
    const problem = this.timeProblem(claims) ?? (await this.lifeProblem(claims));
    if (problem !== undefined) return { isValid: false, problem: `[${badToken}, ${problem}]` };
    return { isValid: true, user: userOf(claims), audiences: common };
  }

  /** The keys by which others can verify the tokens. */
  keySet() {
    return this.signer().keySet();
  }

  private timeProblem(claims: unknown): string | undefined {
    const now = this.world.clock.now() / 1000;
    if (now >= (count(at(claims, 'exp')) ?? 0)) return 'service account token has expired';
    if (now < (count(at(claims, 'nbf')) ?? 0)) return 'service account token is not valid yet';
    return undefined;
  }

  private async lifeProblem(claims: unknown): Promise<string | undefined> {
    const own = at(claims, claimsField);
    const namespace = text(at(own, 'namespace')) ?? '';
    const referred: readonly (readonly [string, unknown, string])[] = [
      ['serviceaccounts', at(own, 'serviceaccount'), namespace],
      ...(['pod', 'secret'] as const).map((kind) => [boundResources[kind], at(own, kind), namespace] as const),
      // The node of a bound pod is told, not bound to.
      ...(at(own, 'pod') === undefined ? [['nodes', at(own, 'node'), ''] as const] : []),
    ];
    for (const [plural, reference, within] of referred) {
      if (reference === undefined) continue;
      const name = text(at(reference, 'name')) ?? '';
      const found = await this.find(plural, within, name);
      if (found === undefined) return `${plural} "${name}" not found`;
      if (this.isLongDeleted(found)) return `${plural} "${name}" has been deleted`;
      if (found.metadata.uid !== at(reference, 'uid')) return `the UID of ${plural} "${name}" is not that of the token`;
    }
    return undefined;
  }

  /** What is on its way out holds for its grace period and a minute; then no token holds for its sake. */
  private isLongDeleted({ metadata: { deletionTimestamp } }: ApiObject): boolean {
    if (typeof deletionTimestamp !== 'string') return false;
    return Date.parse(deletionTimestamp) + deletionLeewayMs < this.world.clock.now();
  }

  async find(plural: string, namespace: string, name: string): Promise<ApiObject | undefined> {
    const { store } = this.registry.builtin('', 'v1', plural);
    return await store.storage.get(storageKey(store.layout, { namespace, name }));
  }

  private signer(): TokenSigner {
    this.ownSigner ??= new TokenSigner(this.key ?? newTokenKey());
    return this.ownSigner;
  }
}

/** PEM of a new P-256 key. */
export function newTokenKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function boundClaims(bound: BoundObject | undefined) {
  if (bound === undefined) return {};
  const { kind, name, uid, node } = bound;
  return { [kind]: { name, uid }, ...(node === undefined ? {} : { node }) };
}

function userOf(claims: unknown): User {
  const own = at(claims, claimsField);
  const namespace = text(at(own, 'namespace')) ?? '';
  const uid = text(at(own, 'serviceaccount', 'uid')) ?? '';
  const told = (['pod', 'node'] as const).flatMap((kind) =>
    (['name', 'uid'] as const).flatMap((field) => {
      const value = text(at(own, kind, field));
      return value === undefined ? [] : [[`${extraPrefix}${kind}-${field}`, [value]] as const];
    }),
  );
  return {
    name: text(at(claims, 'sub')) ?? '',
    uid,
    groups: [...serviceAccountGroups(namespace), authenticatedGroup],
    extra: { [credentialIdKey]: [`JTI=${text(at(claims, 'jti')) ?? ''}`], ...Object.fromEntries(told) },
  };
}

function quoted(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
