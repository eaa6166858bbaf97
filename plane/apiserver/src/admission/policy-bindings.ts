import { type ApiObject, at, records, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { Server } from '../request/server.js';
import { storageKey } from '../storage/keys.js';
import { type MatchRules, matchedDefinition } from './rule-match.js';

const group = 'admissionregistration.k8s.io';

/** A policy, and one of the bindings that put it in force. */
export interface Bound {
  readonly policy: ApiObject;
  readonly binding: ApiObject;
}

/** The policies that are in force, in the order of their names. */
export async function boundPolicies(kind: 'mutating' | 'validating', { registry }: Server): Promise<readonly Bound[]> {
  const bindings = registry.builtin(group, 'v1', `${kind}admissionpolicybindings`).store;
  await bindings.cache.reach(0);
  const { store } = registry.builtin(group, 'v1', `${kind}admissionpolicies`);
  const bound: Bound[] = [];
  for (const { object: binding } of bindings.cache.list(bindings.layout.prefix)) {
    const policyName = text(at(binding, 'spec', 'policyName')) ?? '';
    const policy = await store.storage.get(storageKey(store.layout, { name: policyName }));
    if (policy !== undefined) bound.push({ policy, binding });
  }
  return bound.sort((left, right) => compareNames(left.policy, right.policy));
}

function compareNames({ metadata: left }: ApiObject, { metadata: right }: ApiObject): number {
  return (left.name ?? '') < (right.name ?? '') ? -1 : left.name === right.name ? 0 : 1;
}

/** The version in which a write is shown to the policy; `undefined`: it does not concern it, or not under this binding. */
export async function boundDefinition(
  { policy, binding }: Bound,
  write: AdmissionWrite,
  server: Server,
): Promise<ResourceDefinition | undefined> {
  const definition = await matchedDefinition(matchRules(at(policy, 'spec', 'matchConstraints')), write, server);
  const narrower = at(binding, 'spec', 'matchResources');
  if (definition === undefined || narrower === undefined) return definition;
  return (await matchedDefinition(bindingRules(narrower, policy), write, server)) && definition;
}

function matchRules(match: unknown): MatchRules {
  return {
    matchPolicy: at(match, 'matchPolicy'),
    rules: records(at(match, 'resourceRules')),
    excludedRules: records(at(match, 'excludeResourceRules')),
    namespaceSelector: at(match, 'namespaceSelector'),
    objectSelector: at(match, 'objectSelector'),
  };
}

/** A binding without rules of its own narrows by its selectors alone. */
function bindingRules(match: unknown, policy: ApiObject): MatchRules {
  const own = matchRules(match);
  return own.rules.length > 0 ? own : { ...own, rules: matchRules(at(policy, 'spec', 'matchConstraints')).rules };
}

/** `namespaceObject` of expressions: where what is written is, if it is in a namespace. */
export async function namespaceOf({ namespace }: AdmissionWrite, server: Server): Promise<ApiObject | null> {
  if (namespace === undefined) return null;
  const { store } = server.registry.builtin('', 'v1', 'namespaces');
  return (await store.storage.get(storageKey(store.layout, { name: namespace }))) ?? null;
}
