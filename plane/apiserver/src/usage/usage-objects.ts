import { apiVersionOf } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { nodeUsageKind, podUsageKind } from './usage-kinds.js';
import type { MeasuredUsage, NodeUsage, PodUsage } from './usage-source.js';

/** `undefined` when nothing was measured of the node. */
export function nodeMetrics(node: ApiObject, measured: NodeUsage | undefined): ApiObject | undefined {
  if (measured === undefined) return undefined;
  const head = headOf(node, nodeUsageKind, measured.usage);
  return { ...head, usage: amountsOf(measured.usage) };
}

/** The time is that of the container that was measured first, as nothing is newer than that. */
export function podMetrics(pod: ApiObject, measured: PodUsage | undefined): ApiObject | undefined {
  const earliest = measured?.containers.map(({ usage }) => usage).toSorted((left, right) => left.atMs - right.atMs)[0];
  if (measured === undefined || earliest === undefined) return undefined;
  const containers = measured.containers.map(({ name, usage }) => ({ name, usage: amountsOf(usage) }));
  return { ...headOf(pod, podUsageKind, earliest), containers };
}

function headOf({ metadata }: ApiObject, kind: typeof podUsageKind, { atMs, windowMs }: MeasuredUsage) {
  const { name, namespace, labels } = metadata;
  const timestamp = `${new Date(atMs).toISOString().slice(0, 19)}Z`;
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: timestamp,
      ...(labels === undefined ? {} : { labels }),
    },
    timestamp,
    window: `${Math.round(windowMs) / 1_000}s`,
  };
}

/** Billionths of a processor, and units of 1,024 bytes. */
function amountsOf({ cores, memoryBytes }: MeasuredUsage) {
  return { cpu: `${Math.round(cores * 1e9)}n`, memory: `${Math.floor(memoryBytes / 1024)}Ki` };
}
