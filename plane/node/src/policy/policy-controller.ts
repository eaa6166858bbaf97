import { namespaces, networkPolicies, pods } from '@castellan/machinery';
import { type Controller, watchSource } from '@castellan/runtime';
import type { PolicyEnforcer } from './policy-enforcer.js';
import { planPolicies } from './policy-plan.js';

/** One key stands for all policies: each may name pods of every namespace. */
const everyPolicy = { name: '*' };

/** Keeps the packet filter as the policies say; where there is none, says so at each policy. */
export function policyController(enforcer: PolicyEnforcer): Controller {
  return {
    name: 'node-policies',
    for: networkPolicies,
    watches: [
      watchSource({ type: networkPolicies, map: () => [everyPolicy] }),
      watchSource({ type: pods, map: () => [everyPolicy] }),
      watchSource({ type: namespaces, map: () => [everyPolicy] }),
    ],
    async reconcile(key, { cache, events }) {
      if (key.name === everyPolicy.name) {
        const policies = cache.list(networkPolicies);
        const isIdle = policies.length === 0;
        await enforcer.apply(
          planPolicies(policies, isIdle ? [] : cache.list(pods), isIdle ? [] : cache.list(namespaces)),
        );
        return undefined;
      }
      const policy = cache.get(networkPolicies, key);
      if (policy !== undefined && !enforcer.isEnforcing) {
        events.record(policy, {
          type: 'Warning',
          reason: 'NotEnforced',
          message:
            'this machine has no packet filter for pods: all traffic between them is let through; next: see `castellan doctor`',
        });
      }
      return undefined;
    },
  };
}
