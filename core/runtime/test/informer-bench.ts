import { type ConfigMap, configMaps, type KubernetesObject, type ResourceType } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import type { Change } from '../src/informer/change.js';
import { Informer, type InformerOptions } from '../src/informer/informer.js';
import { FakeCluster } from './fake-cluster.js';

const key = { namespace: 'default', name: 'a' };

/** An informer of config maps, or of a part of them, over a simulated server in simulated time; and what it told. */
export class InformerBench<T extends KubernetesObject = ConfigMap> {
  readonly world = simulatedWorld(3);
  readonly client = new FakeCluster();
  readonly problems: unknown[] = [];
  readonly states: string[] = [];
  readonly informer: Informer<T>;
  readonly changes: string[] = [];
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(options: Partial<InformerOptions<T>> = {}) {
    this.informer = new Informer<T>({
      client: this.client,
      world: this.world,
      type: configMaps as unknown as ResourceType<T>,
      usesWatchList: false,
      onProblem: (error) => this.problems.push(error),
      onState: (state) => this.states.push(state),
      ...options,
    });
    this.informer.addHandler((change) => this.changes.push(textOf(change)));
  }

  async start(): Promise<void> {
    this.#ended = this.informer.run(this.#stop.signal);
    await this.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stop'));
    await this.world.run(this.#ended ?? Promise.resolve(), 1_000);
  }

  settle(): Promise<void> {
    return this.world.advance(0);
  }

  create(name = 'a', value = '1', owner?: string): Promise<ConfigMap> {
    const ownerReferences =
      owner === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: owner, uid: owner, controller: true }] };
    return this.client.create(configMaps, {
      metadata: { namespace: 'default', name, ...ownerReferences },
      data: { value },
    });
  }

  set(value: string, name = 'a'): Promise<ConfigMap> {
    return this.client.patch(configMaps, { ...key, name }, { type: 'merge', body: { data: { value } } });
  }

  label(labels: Readonly<Record<string, string | null>>, name = 'a'): Promise<ConfigMap> {
    return this.client.patch(configMaps, { ...key, name }, { type: 'merge', body: { metadata: { labels } } });
  }

  delete(name = 'a'): Promise<boolean> {
    return this.client.delete(configMaps, { ...key, name });
  }

  value(name = 'a'): string | undefined {
    const object: ConfigMap | undefined = this.informer.get({ ...key, name });
    return object?.data?.value;
  }

  takeChanges(): string[] {
    return this.changes.splice(0);
  }
}

/** "updated a=2", with "going" where it is being deleted. */
export function textOf({ kind, object }: Change<KubernetesObject>): string {
  const { metadata, data }: ConfigMap = object;
  return `${kind} ${metadata.name}=${data?.value}${metadata.deletionTimestamp === undefined ? '' : ' going'}`;
}
