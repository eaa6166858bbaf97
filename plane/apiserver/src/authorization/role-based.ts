import { type LabelSelectorObject, labelSelectorOf, matchesLabels } from '@castellan/machinery';
import { type ApiObject, at, isRecord, type JsonRecord, records, text } from '../json.js';
import type { Resource } from '../registry/resource.js';
import type { User } from '../server/http.js';
import { storageKey } from '../storage/keys.js';
import type { Attributes, Decision } from './attributes.js';
import { type PolicyRule, parseRules, ruleAllows } from './policy-rule.js';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** The four kinds that say who may do what. */
export interface RbacResources {
  readonly roles: Resource;
  readonly roleBindings: Resource;
  readonly clusterRoles: Resource;
  readonly clusterRoleBindings: Resource;
}

/** A role that a binding grants to a user, in the words that explain it. */
interface Grant {
  readonly rules: readonly PolicyRule[];
  /** `RoleBinding "a/ns" of Role "b" to User "bob"` */
  readonly description: string;
}

interface RoleReference {
  readonly kind: string;
  readonly name: string;
}

/**
 * Role-based access control over the API's own objects. Reads the watch caches: an allowed request costs no read of the
 * keyspace; a refusal is only given after the caches hold every acknowledged write.
 */
export class RoleBasedAccess {
  private readonly resources: RbacResources;

  constructor(resources: RbacResources) {
    this.resources = resources;
  }

  async decide(attributes: Attributes): Promise<Decision> {
    await Promise.all(this.caches().map((cache) => cache.reach(0)));
    const first = this.decideNow(attributes);
    if (first.isAllowed) return first;
    await this.fresh();
    return this.decideNow(attributes);
  }

  /** All rules that hold for a user in a namespace ('' for none): those of the cluster first. */
  async rulesOf(user: User, namespace: string): Promise<readonly PolicyRule[]> {
    await this.fresh();
    return [...this.grants(user, namespace, [])].flatMap(({ rules }) => rules);
  }

  /** The rules of a role that a binding in `namespace` names; undefined where there is none. */
  async rulesOfRole(reference: RoleReference, namespace: string): Promise<readonly PolicyRule[] | undefined> {
    await this.fresh();
    return this.roleRules(reference, namespace);
  }

  private caches() {
    const { roles, roleBindings, clusterRoles, clusterRoleBindings } = this.resources;
    return [roles, roleBindings, clusterRoles, clusterRoleBindings].map(({ store }) => store.cache);
  }

  private async fresh(): Promise<void> {
    await Promise.all(this.caches().map((cache) => cache.fresh()));
  }

  private decideNow(attributes: Attributes): Decision {
    const problems: string[] = [];
    const namespace = attributes.type === 'path' ? '' : attributes.namespace;
    for (const { rules, description } of this.grants(attributes.user, namespace, problems)) {
      if (rules.some((rule) => ruleAllows(rule, attributes))) {
        return { isAllowed: true, reason: `RBAC: allowed by ${description}` };
      }
    }
    const [problem] = problems;
    const reason = problem === undefined ? '' : `RBAC: ${problems.length === 1 ? problem : `[${problems.join(', ')}]`}`;
    return { isAllowed: false, reason };
  }

  private *grants(user: User, namespace: string, problems: string[]): Generator<Grant> {
    const { clusterRoleBindings, roleBindings } = this.resources;
    const { store } = clusterRoleBindings;
    for (const { object } of store.cache.list(store.layout.prefix)) {
      yield* this.grantsOf(object, user, { kind: 'ClusterRoleBinding', namespace: '' }, problems);
    }
    if (namespace === '') return;
    for (const { object } of roleBindings.store.cache.list(`${roleBindings.store.layout.prefix}${namespace}/`)) {
      yield* this.grantsOf(object, user, { kind: 'RoleBinding', namespace }, problems);
    }
  }

  private *grantsOf(
    binding: ApiObject,
    user: User,
    from: { readonly kind: string; readonly namespace: string },
    problems: string[],
  ): Generator<Grant> {
    const subject = records(binding.subjects).find((each) => isSubject(each, user, from.namespace));
    if (subject === undefined) return;
    const reference = roleReferenceOf(binding);
    const rules = this.roleRules(reference, from.namespace);
    if (rules === undefined) {
      problems.push(`${reference.kind.toLowerCase()}.${rbacGroup} "${reference.name}" not found`);
      return;
    }
    const name = `${binding.metadata.name ?? ''}${from.namespace === '' ? '' : `/${from.namespace}`}`;
    const description = `${from.kind} "${name}" of ${reference.kind} "${reference.name}" to ${described(subject)}`;
    yield { rules, description };
  }

  private roleRules({ kind, name }: RoleReference, namespace: string): readonly PolicyRule[] | undefined {
    const { roles, clusterRoles } = this.resources;
    const { store } = kind === 'ClusterRole' ? clusterRoles : roles;
    const role = store.cache.get(storageKey(store.layout, { namespace, name }));
    return role === undefined ? undefined : parseRules(role.rules);
  }
}

export function roleReferenceOf(binding: ApiObject): RoleReference {
  return { kind: text(at(binding, 'roleRef', 'kind')) ?? '', name: text(at(binding, 'roleRef', 'name')) ?? '' };
}

/** The rules that an aggregating ClusterRole has of the others, in order of their names, each once. */
export function aggregatedRules(role: ApiObject, all: readonly ApiObject[]): readonly JsonRecord[] {
  const selectors = records(at(role, 'aggregationRule', 'clusterRoleSelectors')).map((selector) =>
    labelSelectorOf(selectorObject(selector)),
  );
  const found = new Map<string, JsonRecord>();
  for (const selector of selectors) {
    for (const other of all) {
      if (other.metadata.name === role.metadata.name || !matchesLabels(selector, other.metadata.labels)) continue;
      for (const rule of records(other.rules)) found.set(JSON.stringify(rule), rule);
    }
  }
  return [...found.values()];
}

function selectorObject(selector: JsonRecord): LabelSelectorObject {
  const matchLabels = isRecord(selector.matchLabels) ? selector.matchLabels : {};
  return {
    matchLabels: Object.fromEntries(
      Object.entries(matchLabels).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
    ),
    matchExpressions: records(selector.matchExpressions).map((expression) => ({
      key: text(expression.key) ?? '',
      operator: text(expression.operator) ?? '',
      values: Array.isArray(expression.values) ? expression.values.filter((value) => typeof value === 'string') : [],
    })),
  };
}

function isSubject(subject: JsonRecord, user: User, bindingNamespace: string): boolean {
  const name = text(subject.name) ?? '';
  switch (subject.kind) {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.name === `system:serviceaccount:${text(subject.namespace) || bindingNamespace}:${name}`;
    default:
      return false;
  }
}

function described(subject: JsonRecord): string {
  const name = text(subject.name) ?? '';
  const full = subject.kind === 'ServiceAccount' ? `${name}/${text(subject.namespace) ?? ''}` : name;
  return `${String(subject.kind)} "${full}"`;
}
