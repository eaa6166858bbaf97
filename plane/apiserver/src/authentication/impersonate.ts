import { StatusError } from '@castellan/machinery';
import { type Attributes, attributesOf } from '../authorization/attributes.js';
import { type Authorizer, forbiddenTo } from '../authorization/authorizer.js';
import type { RequestInfo } from '../request/request-info.js';
import type { ApiRequest, User } from '../server/http.js';
import { anonymousUser, authenticatedGroup, unauthenticatedGroup } from './groups.js';
import { serviceAccountGroups, serviceAccountOf } from './service-account-name.js';

const extraPrefix = 'impersonate-extra-';

/** Whom the headers ask to be, before any right to it is looked at. */
interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The user whom a request is to be carried out as: the one that speaks, or the one that its headers name. */
export async function impersonate(
  authorizer: Authorizer,
  user: User,
  request: ApiRequest,
  asked: { readonly info: RequestInfo; readonly verb: string },
): Promise<User> {
  const wanted = wantedUser(request.headers);
  if (wanted === undefined) return user;
  if (wanted.name === '') {
    const groups = wanted.groups.map((group) => JSON.stringify(group)).join(', ');
    const requested = `&user.DefaultInfo{Name:"", UID:"${wanted.uid}", Groups:[]string${wanted.groups.length === 0 ? '(nil)' : `{${groups}}`}, Extra:map[string][]string(nil)}`;
    throw StatusError.of('BadRequest', `requested ${requested} without impersonating a user name`);
  }
  const refusal = await constrainedRefusal(authorizer, user, wanted, asked);
  if (refusal !== undefined && !(await mayBe(authorizer, user, wanted, 'impersonate'))) throw refusal;
  return impersonated(wanted);
}

function wantedUser(headers: ApiRequest['headers']): Wanted | undefined {
  const extra = new Map<string, readonly string[]>();
  for (const name of Object.keys(headers)) {
    if (!name.startsWith(extraPrefix)) continue;
    extra.set(unescaped(name.slice(extraPrefix.length)), valuesOf(headers[name]));
  }
  const name = headers['impersonate-user'] ?? '';
  const groups = valuesOf(headers['impersonate-group']);
  const uid = headers['impersonate-uid'] ?? '';
  if (name === '' && groups.length === 0 && uid === '' && extra.size === 0) return undefined;
  return { name, groups, uid, extra };
}

/** A header that was sent several times arrives joined by commas. */
function valuesOf(header: string | undefined): readonly string[] {
  return header === undefined ? [] : header.split(', ').filter((value) => value !== '');
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/**
 * Constrained impersonation (KEP-5284): a right to be somebody of a sort, and a right to do so for this very request.
 * Undefined: both are there.
 */
async function constrainedRefusal(
  authorizer: Authorizer,
  user: User,
  wanted: Wanted,
  { info, verb }: { readonly info: RequestInfo; readonly verb: string },
): Promise<StatusError | undefined> {
  const mode = serviceAccountOf(wanted.name) === undefined ? modeOfName(wanted.name) : 'serviceaccount';
  const onRequest = attributesOf(user, `impersonate-on:${mode}:${verb}`, info);
  const { isAllowed, reason } = await authorizer.decide(onRequest);
  if (!isAllowed) return forbiddenTo(onRequest, reason);
  // Administrators hold that right by being what they are; nobody may become one this way.
  return (await mayBe(authorizer, user, wanted, `impersonate:${mode}`)) ? undefined : forbiddenTo(onRequest);
}

function modeOfName(name: string): string {
  return name.startsWith('system:node:') ? 'arbitrary-node' : 'user-info';
}

async function mayBe(authorizer: Authorizer, user: User, wanted: Wanted, verb: string): Promise<boolean> {
  for (const attributes of questionsFor(user, wanted, verb)) {
    if (!(await authorizer.decide(attributes)).isAllowed) return false;
  }
  return true;
}

function questionsFor(user: User, wanted: Wanted, verb: string): readonly Attributes[] {
  // The older verb is asked of the core group, the constrained ones of the group that user names belong to.
  const coreGroup = verb === 'impersonate' ? '' : 'authentication.k8s.io';
  const question = (
    group: string,
    resource: string,
    name: string,
    rest: { namespace?: string; subresource?: string } = {},
  ): Attributes => ({
    type: 'resource',
    user,
    verb,
    group,
    resource,
    name,
    namespace: rest.namespace ?? '',
    subresource: rest.subresource ?? '',
  });
  const account = serviceAccountOf(wanted.name);
  return [
    account === undefined
      ? question(coreGroup, 'users', wanted.name)
      : question(coreGroup, 'serviceaccounts', account.name, { namespace: account.namespace }),
    ...wanted.groups.map((group) => question(coreGroup, 'groups', group)),
    ...(wanted.uid === '' ? [] : [question('authentication.k8s.io', 'uids', wanted.uid)]),
    ...[...wanted.extra].flatMap(([key, values]) =>
      values.map((value) => question('authentication.k8s.io', 'userextras', value, { subresource: key })),
    ),
  ];
}

function impersonated({ name, uid, groups, extra }: Wanted): User {
  const account = serviceAccountOf(name);
  const named = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  const implied = name === anonymousUser.name ? unauthenticatedGroup : authenticatedGroup;
  const isNamed = named.some((group) => group === authenticatedGroup || group === unauthenticatedGroup);
  return {
    name,
    groups: isNamed ? named : [...named, implied],
    ...(uid === '' ? {} : { uid }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}
