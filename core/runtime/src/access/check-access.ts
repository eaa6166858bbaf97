import type { Client } from '@castellan/client';
import type { KubernetesObject, ResourceType } from '@castellan/machinery';
import type { PolicyRule } from './required-rules.js';

/** One thing that a process may not do. */
export interface MissingRight {
  /** "list pods", "patch memcacheds/status.example.com", "get leases.coordination.k8s.io named x". */
  readonly what: string;
  /** What to add to the role of the process. */
  readonly rule: PolicyRule;
}

interface RulesReview extends KubernetesObject {
  readonly spec: { readonly namespace: string };
  readonly status?: { readonly resourceRules?: readonly PolicyRule[]; readonly incomplete?: boolean };
}

interface AccessReview extends KubernetesObject {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
  readonly status?: { readonly allowed?: boolean };
}

const rulesReviews: ResourceType<RulesReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  isNamespaced: false,
};
const accessReviews: ResourceType<AccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  isNamespaced: false,
};

/**
 * Asks the API server what this process may do, and gives what `rules` need beyond that: one SelfSubjectRulesReview, and a
 * SelfSubjectAccessReview for each right that it does not settle (it knows of one namespace, and of some authorizers not all).
 *
 * @param namespace where the rights are needed; in all namespaces when absent.
 */
export async function missingRights(
  client: Client,
  rules: readonly PolicyRule[],
  options: { readonly namespace?: string; readonly signal?: AbortSignal } = {},
): Promise<readonly MissingRight[]> {
  const { namespace, signal } = options;
  const request = signal === undefined ? {} : { signal };
  const review = await client.create(
    rulesReviews,
    { metadata: {}, spec: { namespace: namespace ?? 'default' } },
    request,
  );
  const granted = review.status?.resourceRules ?? [];
  const isComplete = review.status?.incomplete !== true;
  const missing: MissingRight[] = [];
  for (const right of rules.flatMap(eachRight)) {
    const isGrantedHere = granted.some((rule) => covers(rule, right));
    // Granted in one namespace may not be granted in all; not granted in one is not granted in all.
    const isSettled = isGrantedHere ? namespace !== undefined : isComplete;
    if (isSettled ? isGrantedHere : await isAllowed(client, right, options)) continue;
    missing.push(say(right));
  }
  return missing;
}

/** One verb on one resource, for all its objects or for one. */
interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly name: string | undefined;
}

function eachRight({ apiGroups, resources, verbs, resourceNames }: PolicyRule): readonly Right[] {
  const names = resourceNames ?? [undefined];
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.flatMap((verb) => names.map((name) => ({ group, resource, verb, name })))),
  );
}

function covers(rule: PolicyRule, { group, resource, verb, name }: Right): boolean {
  const { apiGroups, resources, verbs, resourceNames = [] } = rule;
  const subresource = resource.includes('/') ? `*/${resource.slice(resource.indexOf('/') + 1)}` : resource;
  return (
    hasOrAll(apiGroups, group) &&
    (hasOrAll(resources, resource) || resources.includes(subresource)) &&
    hasOrAll(verbs, verb) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  );
}

function hasOrAll(list: readonly string[], wanted: string): boolean {
  return list.includes('*') || list.includes(wanted);
}

async function isAllowed(
  client: Client,
  { group, resource, verb, name }: Right,
  { namespace, signal }: { readonly namespace?: string; readonly signal?: AbortSignal },
): Promise<boolean> {
  const [plural = '', subresource] = resource.split('/');
  const resourceAttributes = {
    group,
    resource: plural,
    verb,
    ...(subresource !== undefined && { subresource }),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
  };
  const request = signal === undefined ? {} : { signal };
  const review = await client.create(accessReviews, { metadata: {}, spec: { resourceAttributes } }, request);
  return review.status?.allowed === true;
}

function say({ group, resource, verb, name }: Right): MissingRight {
  const what = `${verb} ${group === '' ? resource : `${resource}.${group}`}${name === undefined ? '' : ` named ${name}`}`;
  const resourceNames = name === undefined ? {} : { resourceNames: [name] };
  return { what, rule: { apiGroups: [group], resources: [resource], verbs: [verb], ...resourceNames } };
}
