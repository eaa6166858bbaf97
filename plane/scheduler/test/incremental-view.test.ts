import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Node, nodes, type Pod, pods } from '@castellan/machinery';
import fc from 'fast-check';
import { ClusterView } from '../src/cluster/cluster-view.js';
import { fitCheck } from '../src/fit-check.js';
import { naiveNodes } from './naive-scheduler.js';
import { node, pod } from './objects.js';
import { HandCache, options } from './scene.js';

const selector = (app: string) => ({ labelSelector: { matchLabels: { app } } });
const podShape = fc.record({
  app: fc.constantFrom('x', 'y'),
  cpu: fc.constantFrom('0', '1', '2'),
  away: fc.option(fc.record({ app: fc.constantFrom('x', 'y'), topologyKey: fc.constantFrom('host', 'zone') })),
  near: fc.option(fc.record({ app: fc.constantFrom('x', 'y'), topologyKey: fc.constantFrom('host', 'zone') })),
  spread: fc.option(
    fc.record({ topologyKey: fc.constantFrom('host', 'zone'), maxSkew: fc.integer({ min: 1, max: 2 }) }),
  ),
  tolerates: fc.boolean(),
});
const nodeNames = ['n0', 'n1', 'n2', 'n3'];
const step = fc.oneof(
  fc.record({
    kind: fc.constant('node' as const),
    name: fc.constantFrom(...nodeNames),
    zone: fc.constantFrom('1', '2', undefined),
    isTainted: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('no node' as const), name: fc.constantFrom(...nodeNames) }),
  ...[1, 2, 3].map(() => fc.record({ kind: fc.constant('arrive' as const), shape: podShape, isAssumed: fc.boolean() })),
  fc.record({ kind: fc.constant('bound' as const), which: fc.nat(8) }),
  fc.record({ kind: fc.constant('leave' as const), which: fc.nat(8) }),
);

test('S1, S2, S3, S6, S12: whatever comes and goes, the view allows the nodes that a naive look at everything allows', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), podShape, (steps, shape) => {
      const cluster = new Cluster();
      for (const [index, name] of nodeNames.entries()) {
        cluster.putNode({ name, zone: index % 2 === 0 ? '1' : '2', isTainted: false });
      }
      for (const [index, each] of steps.entries()) {
        switch (each.kind) {
          case 'node':
            cluster.putNode(each);
            break;
          case 'no node':
            cluster.removeNode(each.name);
            break;
          case 'arrive':
            cluster.place(podOf(`p${index}`, each.shape), each.isAssumed);
            break;
          case 'bound':
            cluster.showBound(each.which);
            break;
          case 'leave':
            cluster.leave(each.which);
            break;
        }
      }
      const incoming = podOf('incoming', shape);
      assert.deepEqual(cluster.allowed(incoming), cluster.naive(incoming));
    }),
    { numRuns: 300 },
  );
});

function podOf(name: string, shape: typeof podShape extends fc.Arbitrary<infer S> ? S : never): Pod {
  const { app, cpu, away, near, spread, tolerates } = shape;
  const terms = (of: typeof away) =>
    of === null
      ? {}
      : { requiredDuringSchedulingIgnoredDuringExecution: [{ ...selector(of.app), topologyKey: of.topologyKey }] };
  return pod(name, {
    cpu,
    metadata: { namespace: 'default', name, uid: name, labels: { app } },
    ...(tolerates ? { tolerations: [{ operator: 'Exists' }] } : {}),
    spec: {
      affinity: { podAntiAffinity: terms(away), podAffinity: terms(near) },
      ...(spread === null
        ? {}
        : { topologySpreadConstraints: [{ ...spread, ...selector(app), whenUnsatisfiable: 'DoNotSchedule' }] }),
    },
  });
}

/** The same cluster twice: as the view has it, change by change, and as plain lists. */
class Cluster {
  readonly #cache = new HandCache();
  readonly #view = new ClusterView();
  readonly #nodes = new Map<string, Node>();
  readonly #placed: { readonly pod: Pod; readonly nodeName: string }[] = [];

  putNode({ name, zone, isTainted }: { name: string; zone: string | undefined; isTainted: boolean }): void {
    const labels = { host: name, ...(zone === undefined ? {} : { zone }) };
    const taints = isTainted ? [{ key: 'team', effect: 'NoSchedule' }] : [];
    const made = node(name, { labels, taints });
    this.#nodes.set(name, made);
    this.#cache.put(nodes, made);
    this.#view.noteNode(made);
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.#cache.remove(nodes, { name });
    this.#view.noteNode({ metadata: { name } });
  }

  /** On the first node that will do. */
  place(arriving: Pod, isAssumed: boolean): void {
    const [nodeName] = this.allowed(arriving);
    if (nodeName === undefined) return;
    this.#placed.push({ pod: arriving, nodeName });
    if (!isAssumed) {
      this.#show(arriving, nodeName);
      return;
    }
    this.#cache.put(pods, arriving);
    this.#view.notePod(arriving);
    this.#view.refresh(this.#cache.reader);
    this.#view.assume(arriving, nodeName);
  }

  showBound(which: number): void {
    const entry = this.#placed[which % Math.max(1, this.#placed.length)];
    if (entry !== undefined) this.#show(entry.pod, entry.nodeName);
  }

  leave(which: number): void {
    const [gone] = this.#placed.splice(which % Math.max(1, this.#placed.length), 1);
    if (gone === undefined) return;
    this.#cache.remove(pods, { namespace: 'default', name: gone.pod.metadata.name ?? '' });
    this.#view.notePod(gone.pod);
  }

  allowed(incoming: Pod): readonly string[] {
    this.#view.refresh(this.#cache.reader);
    const check = fitCheck(incoming, { cluster: this.#view, cache: this.#cache.reader }, options.plugins);
    return this.#view.nodes.filter((each) => check.refusalOf(each) === undefined).map(({ name }) => name);
  }

  naive(incoming: Pod): readonly string[] {
    return [...naiveNodes(incoming, { nodes: [...this.#nodes.values()], placed: this.#placed })].sort();
  }

  #show(shown: Pod, nodeName: string): void {
    const bound = { ...shown, spec: { containers: [], ...shown.spec, nodeName } };
    this.#cache.put(pods, bound);
    this.#view.notePod(bound);
  }
}
