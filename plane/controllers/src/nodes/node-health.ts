import { findCondition, type Lease, type Node } from '@castellan/machinery';

interface Seen {
  readonly uid: string | undefined;
  readonly renewTime: string | undefined;
  readonly heartbeat: string | undefined;
  /** On the clock that never goes back: when one of the two was last seen to change. */
  readonly atMs: number;
}

/**
 * When each node was last heard of: its agent renewed its Lease or wrote its status. Only that something changed counts, as
 * the clocks of nodes may be wrong.
 */
export class NodeHealth {
  readonly #seen = new Map<string, Seen>();

  /**
   * For how long nothing was heard of the node, in ms. `undefined` for one that says that it is ready and never had a Lease: nobody
   * promised to be heard of.
   */
  silentMs(node: Node, lease: Lease | undefined, nowMs: number): number | undefined {
    const { name = '', uid } = node.metadata;
    const ready = findCondition(node.status?.conditions, 'Ready');
    const before = this.#seen.get(name);
    const isSame = before !== undefined && before.uid === uid;
    const renewTime = lease?.spec?.renewTime ?? (isSame ? before.renewTime : undefined);
    const heartbeat = ready?.lastHeartbeatTime;
    const isNews = !isSame || before.renewTime !== renewTime || before.heartbeat !== heartbeat;
    const atMs = isNews ? nowMs : before.atMs;
    this.#seen.set(name, { uid, renewTime, heartbeat, atMs });
    if (ready !== undefined && renewTime === undefined) return undefined;
    return nowMs - atMs;
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}
