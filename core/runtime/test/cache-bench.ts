import assert from 'node:assert/strict';
import type { Condition, KubernetesObject, ResourceType } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import { type ControllerDefinition, controller, createLog, createManager, type Manager } from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

export interface Cache extends KubernetesObject {
  readonly spec: { readonly size: number; readonly image?: string; readonly token?: string };
  readonly status?: {
    readonly ready?: number;
    readonly note?: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

export const caches: ResourceType<Cache> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Cache',
  plural: 'caches',
  isNamespaced: true,
};
export const key = { namespace: 'default', name: 'a' };

/** One controller of caches under a manager, in simulated time. */
export class Bench {
  readonly world: SimulatedWorld = simulatedWorld(5);
  readonly client = new FakeCluster();
  readonly logged: Record<string, unknown>[] = [];
  readonly errors: unknown[] = [];
  readonly manager: Manager;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(definition: ControllerDefinition<Cache>) {
    const { world, client } = this;
    this.manager = createManager({
      wholeCache: true,
      client,
      world,
      log: createLog({ write: (line) => this.logged.push(JSON.parse(line)), world, level: 'debug' }),
      onError: (error) => this.errors.push(error),
      controllers: [controller(caches, definition)],
    });
  }

  async create(spec: Cache['spec'] = { size: 1 }, more: Partial<KubernetesObject['metadata']> = {}): Promise<Cache> {
    return this.client.create(caches, { metadata: { ...key, generation: 1, ...more }, spec });
  }

  async start(): Promise<void> {
    this.#ended = this.manager.run(this.#stop.signal);
    this.#ended.catch(() => undefined);
    await this.world.advance(0);
  }

  async patch(body: unknown): Promise<void> {
    await this.client.patch(caches, key, { type: 'merge', body });
    await this.world.advance(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stop'));
    await this.world.run(this.#ended, 60_000);
    assert.equal(this.world.pendingTimers, 0);
  }

  object(): Promise<Cache> {
    return this.client.get(caches, key);
  }

  /** Requests of the controller that write, since the last time. */
  takeWrites(): string[] {
    const writes = this.client.calls.filter((call) => /^(P|DELETE)/.test(call) && !call.includes('/events'));
    this.client.calls.length = 0;
    return writes;
  }
}
