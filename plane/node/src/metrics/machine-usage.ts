import type { World } from '@castellan/world';
import type { PodWorker } from '../pods/pod-worker.js';
import { containerUsage } from './container-usage.js';
import { hostUsage } from './host-usage.js';
import { type Rate, type Subject, UsageMeter } from './usage-meter.js';

/** What one node or container uses: processors' worth over a window that ends then, and memory in bytes. */
export type MeasuredUsage = Rate;

export interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  /** Of those that run. */
  readonly containers: readonly { readonly name: string; readonly usage: MeasuredUsage }[];
}

export interface NodeUsage {
  readonly name: string;
  readonly usage: MeasuredUsage;
  /** Those of which something runs. */
  readonly pods: readonly PodUsage[];
}

interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly { readonly name: string; readonly subject: Subject }[];
}

const hostId = 'host';

/** Measures the nodes of this machine and their pods. */
export class MachineUsage {
  readonly #workersByNode: () => ReadonlyMap<string, readonly PodWorker[]>;
  readonly #meter: UsageMeter;

  constructor(world: World, workersByNode: () => ReadonlyMap<string, readonly PodWorker[]>) {
    this.#workersByNode = workersByNode;
    this.#meter = new UsageMeter(world, () => [
      { id: hostId, read: hostUsage },
      ...[...workersByNode().values()]
        .flat()
        .flatMap((worker) => runningPod(worker).containers.map((each) => each.subject)),
    ]);
  }

  async nodes(): Promise<readonly NodeUsage[]> {
    const rates = await this.#meter.measure();
    const nodes = [...this.#workersByNode()];
    return nodes.flatMap(([name, workers]) => {
      const pods = workers.map(runningPod).flatMap((pod) => usageOf(pod, rates));
      const host = rates.get(hostId);
      return host === undefined ? [] : [{ name, usage: nodes.length === 1 ? host : sumOf(pods, host), pods }];
    });
  }
}

/** Of several nodes of one machine, each has what its pods have: the rest is of none of them. */
function sumOf(pods: readonly PodUsage[], host: Rate): Rate {
  const all = pods.flatMap(({ containers }) => containers);
  const cores = all.reduce((sum, { usage }) => sum + usage.cores, 0);
  const memoryBytes = all.reduce((sum, { usage }) => sum + usage.memoryBytes, 0);
  return { ...host, cores, memoryBytes };
}

function usageOf({ namespace, name, containers }: RunningPod, rates: ReadonlyMap<string, Rate>): readonly PodUsage[] {
  const measured = containers.flatMap((container) => {
    const usage = rates.get(container.subject.id);
    return usage === undefined ? [] : [{ name: container.name, usage }];
  });
  return measured.length === 0 ? [] : [{ namespace, name, containers: measured }];
}

function runningPod(worker: PodWorker): RunningPod {
  const { namespace = '', name = '' } = worker.pod.metadata;
  const containers = worker.runs().flatMap(({ id, record, process }) => {
    const pid = process.initProcess()?.pid;
    if (pid === undefined) return [];
    const read = () => containerUsage({ cgroups: record.cgroups, pid });
    return [{ name: record.container, subject: { id, startedAtMs: record.startedAtMs, read } }];
  });
  return { namespace, name, containers };
}
