import assert from 'node:assert/strict';
import { type ConfigMap, configMaps } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import {
  type Controller,
  createLog,
  createManager,
  type Manager,
  type ReconcileContext,
  type ReconcileResult,
} from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

export const a = { namespace: 'default', name: 'a' };

/** One controller of config maps under a manager, in simulated time. */
export class Bench {
  readonly world: SimulatedWorld = simulatedWorld(5);
  readonly client = new FakeCluster();
  readonly runs: string[] = [];
  readonly logged: Record<string, unknown>[] = [];
  readonly errors: unknown[] = [];
  readonly manager: Manager;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(
    reconcile: (name: string, context: ReconcileContext, bench: Bench) => Promise<ReconcileResult>,
    options: Partial<Controller<ConfigMap>> = {},
  ) {
    const { world, client } = this;
    this.manager = createManager({
      wholeCache: true,
      client,
      world,
      log: createLog({ write: (line) => this.logged.push(JSON.parse(line)), world, level: 'debug' }),
      onError: (error) => this.errors.push(error),
      controllers: [
        {
          name: 'test',
          for: configMaps,
          reconcile: (key, context) => {
            this.runs.push(key.name);
            return reconcile(key.name, context, this);
          },
          ...options,
        },
      ],
    });
  }

  async create(...names: string[]): Promise<void> {
    for (const name of names) await this.client.create(configMaps, { metadata: { namespace: 'default', name } });
  }

  async start(): Promise<void> {
    this.#ended = this.manager.run(this.#stop.signal);
    this.#ended.catch(() => undefined);
    await this.world.advance(0);
  }

  async stop(limitMs = 60_000): Promise<void> {
    this.#stop.abort(new Error('stop'));
    await this.world.run(this.#ended, limitMs);
    assert.deepEqual(this.client.openWatches, []);
    assert.equal(this.world.pendingTimers, 0, '77: no timer is left');
  }

  get status() {
    const status = this.manager.status().controllers[0];
    assert(status !== undefined);
    return status;
  }

  takeRuns(): string[] {
    return this.runs.splice(0);
  }
}
