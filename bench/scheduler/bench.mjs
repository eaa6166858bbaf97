import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { namespaces, nodes, pods, serviceAccounts } from '../../core/machinery/dist/src/index.js';
import { createLog, createManager } from '../../core/runtime/dist/src/index.js';
import { realWorld } from '../../core/world/dist/src/index.js';
import { startPlane } from '../../plane/embedded/dist/src/index.js';

const inFlight = 32;
const deadlineMs = 300_000;

/** An API server of its own with nodes and pods that nobody runs. */
export class SchedulerBench {
  #directory = mkdtempSync(join(tmpdir(), 'castellan-bench-scheduler-'));
  #world = realWorld();
  #log = createLog({ world: this.#world, format: 'human', level: 'error', write: (line) => console.error(line) });
  #plane;

  static async start() {
    const bench = new SchedulerBench();
    await bench.#start();
    return bench;
  }

  async #start() {
    const parts = { node: false, controllers: false, operators: [] };
    this.#plane = await startPlane({
      ...parts,
      dataDirectory: this.#directory,
      port: 0,
      world: this.#world,
      log: this.#log,
    });
    const { client } = this.#plane;
    if ((await client.find(namespaces, { name: 'default' })) === undefined) {
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    }
    const metadata = { namespace: 'default', name: 'default' };
    await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  }

  async addNodes(count) {
    await this.#each(count, async (index) => {
      const name = `node-${index}`;
      const labels = {
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': `zone-${index % 5}`,
        region: 'here',
      };
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } };
      const capacity = { cpu: '64', memory: '256Gi', pods: '1000' };
      const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }];
      const status = { capacity, allocatable: capacity, conditions };
      const { client } = this.#plane;
      await client.create(nodes, node);
      await client.patch(nodes, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
      // Admission taints a node that is new; a controller that is not here would take that away.
      await client.patch(nodes, { name }, { type: 'merge', body: { spec: { taints: null } } });
    });
  }

  addPods(count, podOf) {
    return this.#each(count, () => this.#plane.client.create(pods, podOf()));
  }

  /** From a manager that begins to the last pod that has a node. */
  async secondsToBindAll(scheduler) {
    const { client } = this.#plane;
    const options = { client, world: this.#world, log: this.#log, wholeCache: true, controllers: [scheduler] };
    const manager = createManager(options);
    const stop = new AbortController();
    const startedMs = performance.now();
    const runs = manager.run(stop.signal);
    await manager.ready();
    try {
      while (!manager.cache.list(pods).every(({ spec }) => spec.nodeName !== undefined)) {
        if (performance.now() - startedMs > deadlineMs) throw new Error('not all pods were bound within 300 s');
        await sleep(10);
      }
      return (performance.now() - startedMs) / 1000;
    } finally {
      stop.abort();
      await runs;
    }
  }

  async stop() {
    await this.#plane?.stop({ pods: 'stop' });
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #each(count, work) {
    let next = 0;
    const worker = async () => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  }
}
