import { type KubernetesObject, keyOf, type ResourceType, resourceName } from '@castellan/machinery';
import type { Controller } from '../controller.js';
import type { LeaderElectionOptions } from '../manager/leader-election.js';
import type { Operator } from '../operator/operator.js';
import { hasWebhooks, type WebhookReach, webhookSecretName } from '../operator/operator-webhooks.js';

/** As in a Role or ClusterRole of rbac.authorization.k8s.io/v1. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface RequiredRulesOptions {
  /** As the manager is given it; the Lease is then named in the rules. */
  readonly leaderElection?: Pick<LeaderElectionOptions, 'name'>;
  /** Whether its processes share the keys; their Leases cannot be named beforehand. */
  readonly isSharded?: boolean;
  /** Whether the operator brings its CustomResourceDefinitions along; true by default, as in `runOperator`. */
  readonly installsKinds?: boolean;
  /** As `runOperator` is given it: which Secret the certificates of webhooks are in, or that they are mounted. */
  readonly webhooks?: Pick<WebhookReach, 'certificates'>;
}

const reading = ['get', 'list', 'watch'] as const;
const owning = ['create', 'delete', 'patch', 'update'] as const;

/**
 * The rights that an operator needs, and no others: computed from what its controllers watch, own and say that they
 * write. Sorted, one rule per resource.
 *
 * - a reconciled kind: to be read; its status to be written; and to be named as owner that blocks a deletion
 *   (`OwnerReferencesPermissionEnforcement` asks for `finalizers` then)
 * - an owned kind: to be read, made, changed and deleted
 * - a watched kind: to be read
 * - Events, the Lease, and the CustomResourceDefinitions that it installs
 * - for webhooks with certificates of their own: their Secret, their configurations, and the definitions of the kinds that
 *   they convert
 */
export function requiredRules(operator: Operator, options: RequiredRulesOptions = {}): readonly PolicyRule[] {
  const needed = new Needed();
  for (const controller of operator.controllers) addController(needed, controller);
  needed.add({ group: 'events.k8s.io', plural: 'events' }, ['create', 'patch']);
  const { leaderElection, isSharded = false, installsKinds = true } = options;
  const leases = { group: 'coordination.k8s.io', plural: 'leases' };
  if (isSharded) needed.add(leases, ['create', 'delete', 'get', 'list', 'update']);
  if (leaderElection !== undefined) {
    // A name that is not there yet cannot be granted to create.
    needed.add(leases, ['create']);
    needed.add(leases, ['get', 'update'], [leaderElection.name]);
  }
  if (hasWebhooks(operator)) addWebhooks(needed, operator, options);
  const names = operator.customResourceDefinitions.map((definition) => keyOf(definition).name);
  if (installsKinds && names.length > 0) {
    needed.add(definitions, ['create']);
    needed.add(definitions, ['get', 'patch'], names);
  }
  return needed.rules();
}

const definitions = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' } as const;

/** A ClusterRole of these rules, for `kubectl apply`. */
export function clusterRole(name: string, rules: readonly PolicyRule[]): KubernetesObject & { rules: typeof rules } {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules };
}

function addController(needed: Needed, controller: Controller): void {
  const { for: type, owns = [], watches = [], writes = [] } = controller;
  needed.add(type, [...reading, 'patch']);
  needed.add({ ...type, plural: `${type.plural}/status` }, ['patch', 'update']);
  needed.add({ ...type, plural: `${type.plural}/finalizers` }, ['update']);
  for (const owned of owns) needed.add(owned, [...reading, ...owning]);
  for (const watched of watches) needed.add(watched.type, reading);
  for (const { type: written, subresource, verbs } of writes) {
    const plural = subresource === undefined ? written.plural : `${written.plural}/${subresource}`;
    needed.add({ ...written, plural }, verbs);
  }
}

function addWebhooks(needed: Needed, operator: Operator, { webhooks }: RequiredRulesOptions): void {
  const { certificates } = webhooks ?? {};
  // Who mounts certificates tells the API server of them too.
  if (certificates !== undefined && !('secret' in certificates)) return;
  const secrets = { group: '', plural: 'secrets' };
  needed.add(secrets, ['create']);
  needed.add(secrets, ['get', 'update'], [certificates?.secret.name ?? webhookSecretName(operator)]);
  for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    const configurations = { group: 'admissionregistration.k8s.io', plural };
    needed.add(configurations, ['create']);
    needed.add(configurations, ['get', 'patch'], [operator.name]);
  }
  for (const { crd } of operator.convertedKinds ?? []) {
    needed.add(definitions, ['get', 'patch'], [keyOf(crd).name]);
  }
}

/** Verbs by resource and, where only some objects are meant, by their names. */
class Needed {
  readonly #verbs = new Map<string, { readonly rule: Omit<PolicyRule, 'verbs'>; readonly verbs: Set<string> }>();

  add(type: Pick<ResourceType, 'group' | 'plural'>, verbs: readonly string[], names?: readonly string[]): void {
    const key = `${resourceName(type)} ${names?.join(',') ?? ''}`;
    const resourceNames = names === undefined ? {} : { resourceNames: names };
    const known = this.#verbs.get(key) ?? {
      rule: { apiGroups: [type.group], resources: [type.plural], ...resourceNames },
      verbs: new Set<string>(),
    };
    for (const verb of verbs) known.verbs.add(verb);
    this.#verbs.set(key, known);
  }

  rules(): readonly PolicyRule[] {
    return [...this.#verbs]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { rule, verbs }]) => ({ ...rule, verbs: [...verbs].toSorted() }));
  }
}
