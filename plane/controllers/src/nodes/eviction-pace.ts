import { isConditionTrue, type Node } from '@castellan/machinery';
import { isEvicting } from './node-taints.js';

/** One node in 10 s for each zone: upstream's node-eviction-rate of 0.1. */
const intervalMs = 10_000;
/** In large zones of which most nodes are in trouble: upstream's secondary-node-eviction-rate of 0.01. */
const slowIntervalMs = 100_000;
const largeZone = 50;
const unhealthyShare = 0.55;
/** Fewer nodes in trouble are no disruption of their zone, as long as one is well. */
const leastUnhealthy = 3;
const excluded = 'node.kubernetes.io/exclude-disruption';

/**
 * How fast pods are driven from nodes in trouble. When many nodes are in trouble at once, it is more likely the network than the
 * nodes; and when all are, pods have nowhere else to go. Source: Kubernetes, "Nodes", rate limits on eviction.
 */
export class EvictionPace {
  /** By zone: when the last node was given leave. */
  readonly #lastMs = new Map<string, number>();

  /** How long pods of `node` may still stay, in ms; `undefined`: until other nodes are better. Leave that is given is used up. */
  ask(node: Node, all: readonly Node[], nowMs: number): number | undefined {
    if (isEvicting(node)) return areAllInTrouble(all) ? undefined : 0;
    const zone = zoneOf(node);
    const pauseMs = pauseIn(zone, all);
    if (pauseMs === undefined) return undefined;
    const lastMs = this.#lastMs.get(zone);
    const restMs = lastMs === undefined ? 0 : Math.max(0, lastMs + pauseMs - nowMs);
    if (restMs === 0) this.#lastMs.set(zone, nowMs);
    return restMs;
  }
}

function pauseIn(zone: string, all: readonly Node[]): number | undefined {
  if (areAllInTrouble(all)) return undefined;
  const inZone = all.filter((node) => zoneOf(node) === zone && counts(node));
  const unhealthy = inZone.filter((node) => !isReady(node)).length;
  const isDisrupted =
    unhealthy < inZone.length && unhealthy >= leastUnhealthy && unhealthy / inZone.length >= unhealthyShare;
  if (!isDisrupted) return intervalMs;
  return inZone.length > largeZone ? slowIntervalMs : undefined;
}

function areAllInTrouble(all: readonly Node[]): boolean {
  return all.filter(counts).every((node) => !isReady(node));
}

function counts({ metadata }: Node): boolean {
  return metadata.labels?.[excluded] === undefined;
}

function isReady({ status }: Node): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}

function zoneOf({ metadata }: Node): string {
  const { labels = {} } = metadata;
  return `${labels['topology.kubernetes.io/region'] ?? ''}/${labels['topology.kubernetes.io/zone'] ?? ''}`;
}
