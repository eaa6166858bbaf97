import type { Log } from '@castellan/runtime';
import type { Clock } from '@castellan/world';
import { NftTable, tablesOf } from '../nftables/nft-table.js';
import type { PolicyPlan } from './policy-plan.js';
import { policyRules, policyTableBase } from './policy-rules.js';

/** Holds pods to the network policies, where the kernel has what it takes. */
export class PolicyEnforcer {
  #table: NftTable | undefined;

  /** To be called when traffic between pods goes through the packet filter; without it nothing is enforced. */
  async start(bridge: string, { log, clock }: { readonly log: Log; readonly clock: Clock }): Promise<void> {
    const name = tablesOf(bridge).policy;
    this.#table = await NftTable.open({ name, base: policyTableBase(name, bridge), log, clock });
  }

  get isEnforcing(): boolean {
    return this.#table !== undefined;
  }

  /** Resolves when the plan is in force. */
  async apply(plan: PolicyPlan): Promise<void> {
    await this.#table?.replace(policyRules(plan));
  }

  async close(): Promise<void> {
    await this.#table?.close();
  }
}
