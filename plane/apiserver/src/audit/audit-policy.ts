import type { Attributes, ResourceAttributes } from '../authorization/attributes.js';

/** How much of a request the log tells: nothing, who and what, the request's object as well, or both objects. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];

export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof auditStages)[number];

/** What the log tells of one request. */
export interface AuditScope {
  readonly level: AuditLevel;
  readonly omittedStages: ReadonlySet<AuditStage>;
  readonly omitsManagedFields: boolean;
}

/** One rule of a policy. An empty list of users, groups, verbs, resources or namespaces stands for all of them. */
export interface AuditRule extends AuditScope {
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly AuditedResources[];
  /** '' is the cluster scope. */
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface AuditedResources {
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*` + `/scale`, `*`; none stands for all of the group. */
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** Which requests the audit log tells of, and how much: the first rule that matches decides (audit.k8s.io/v1 Policy). */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
}

const nothing: AuditScope = { level: 'None', omittedStages: new Set(), omitsManagedFields: false };

/** Every request when it has ended, and streams when they begin; never a body. */
export const metadataOfAll: AuditPolicy = {
  rules: [
    {
      level: 'Metadata',
      omittedStages: new Set(['RequestReceived']),
      omitsManagedFields: false,
      ...{ users: [], userGroups: [], verbs: [], resources: [], namespaces: [], nonResourceURLs: [] },
    },
  ],
};

/** What of a request is told; nothing where no rule matches. */
export function auditScopeOf({ rules }: AuditPolicy, attributes: Attributes): AuditScope {
  return rules.find((rule) => matches(rule, attributes)) ?? nothing;
}

function matches(rule: AuditRule, attributes: Attributes): boolean {
  const { user, verb } = attributes;
  if (rule.users.length > 0 && !rule.users.includes(user.name)) return false;
  if (rule.userGroups.length > 0 && !rule.userGroups.some((group) => user.groups.includes(group))) return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) {
    return attributes.type === 'resource' && namesResource(rule, attributes);
  }
  if (rule.nonResourceURLs.length === 0) return true;
  return attributes.type === 'path' && rule.nonResourceURLs.some((url) => isPathOf(url, attributes.path));
}

function namesResource({ namespaces, resources }: AuditRule, attributes: ResourceAttributes): boolean {
  if (namespaces.length > 0 && !namespaces.includes(attributes.namespace)) return false;
  if (resources.length === 0) return true;
  const { group, resource, subresource, name } = attributes;
  const own = subresource === '' ? resource : `${resource}/${subresource}`;
  const all = ['*', own, ...(subresource === '' ? [] : [`*/${subresource}`]), `${resource}/*`];
  return resources.some(
    (named) =>
      named.group === group &&
      (named.resources.length === 0 ||
        ((named.resourceNames.length === 0 || named.resourceNames.includes(name)) &&
          named.resources.some((each) => all.includes(each)))),
  );
}

function isPathOf(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
}
