import type { RequestInfo } from '../request/request-info.js';
import type { User } from '../server/http.js';

/** What somebody wants to do: the question that authorisation answers. */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly type: 'resource';
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** '' for the object itself. */
  readonly subresource: string;
  /** '' at the cluster scope. */
  readonly namespace: string;
  /** '' for a collection. */
  readonly name: string;
  /** Of a collection: which objects of it are asked for. */
  readonly fieldSelector?: string;
}

export interface PathAttributes {
  readonly type: 'path';
  readonly user: User;
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  readonly isAllowed: boolean;
  /** Why, in the words that access reviews and refusals show; '' where there is nothing to say. */
  readonly reason: string;
}

/** The attributes of a request for `verb`. A list or watch of one name counts as a question for that name. */
export function attributesOf(
  user: User,
  verb: string,
  info: RequestInfo,
  query: URLSearchParams = new URLSearchParams(),
): Attributes {
  if (info.type === 'path') return { type: 'path', user, verb, path: info.path };
  const isOwnNamespace = info.group === '' && info.plural === 'namespaces' && info.namespace === undefined;
  return {
    type: 'resource',
    user,
    verb,
    group: info.group,
    resource: info.plural,
    subresource: info.subresource,
    // A namespace's own objects are in it: whoever has rights in a namespace may have them on the namespace itself.
    namespace: info.namespace ?? (isOwnNamespace ? (info.name ?? '') : ''),
    name: info.name ?? nameInSelector(verb, query),
    ...(query.has('fieldSelector') ? { fieldSelector: query.get('fieldSelector') ?? '' } : {}),
  };
}

function nameInSelector(verb: string, query: URLSearchParams): string {
  if (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection') return '';
  const terms = (query.get('fieldSelector') ?? '').split(',');
  const [, name = ''] = terms.map((term) => /^metadata\.name==?([^=!]+)$/.exec(term)).find((match) => match) ?? [];
  return name;
}

/** `User "bob" cannot list resource "pods" in API group "" in the namespace "a"`, as kube-apiserver says it. */
export function refusalOf(attributes: Attributes): string {
  const { user, verb } = attributes;
  if (attributes.type === 'path') return `User "${user.name}" cannot ${verb} path "${attributes.path}"`;
  const { group, resource, subresource, namespace } = attributes;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${scope}`;
}
