import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseNode } from '../src/choose-node.js';
import { viewNode } from '../src/cluster-view.js';
import { filter } from '../src/filter.js';
import { requestsOf } from '../src/resources.js';
import { score } from '../src/score.js';
import { node, type PodFacts, pod } from './objects.js';

const empty = (...nodes: Parameters<typeof viewNode>[0][]) => nodes.map((each) => viewNode(each, []));

test('S1: a node that is not ready, unreachable, cordoned or tainted is refused, each in upstream words', () => {
  const refused = (...facts: Parameters<typeof node>) => filter(pod('a'), viewNode(node(...facts), []));
  assert.deepEqual(refused('n', { ready: 'False' }), [
    'node(s) had untolerated taint {node.kubernetes.io/not-ready: }',
  ]);
  assert.deepEqual(refused('n', { ready: 'Unknown' }), [
    'node(s) had untolerated taint {node.kubernetes.io/unreachable: }',
  ]);
  assert.deepEqual(refused('n', { cordoned: true }), ['node(s) were unschedulable']);
  const taints = [{ key: 'team', value: 'db', effect: 'NoSchedule' }];
  assert.deepEqual(refused('n', { taints }), ['node(s) had untolerated taint {team: db}']);
  assert.deepEqual(refused('n', { taints: [{ key: 'team', effect: 'PreferNoSchedule' }] }), []);
});

test('S1: a toleration admits exactly what it names', () => {
  const view = viewNode(node('n', { taints: [{ key: 'team', value: 'db', effect: 'NoSchedule' }] }), []);
  const admitted = (toleration: NonNullable<PodFacts['tolerations']>[number]) =>
    filter(pod('a', { tolerations: [toleration] }), view).length === 0;
  assert.ok(admitted({ key: 'team', operator: 'Equal', value: 'db', effect: 'NoSchedule' }));
  assert.ok(admitted({ key: 'team', operator: 'Exists' }));
  assert.ok(admitted({ operator: 'Exists' }));
  assert.ok(!admitted({ key: 'team', operator: 'Equal', value: 'web' }));
  assert.ok(!admitted({ key: 'other', operator: 'Exists' }));
  assert.ok(!admitted({ key: 'team', operator: 'Exists', effect: 'NoExecute' }));
});

test('S1: a daemon that tolerates not-ready is placed on a node that is not ready', () => {
  const daemon = pod('a', { tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }] });
  assert.deepEqual(filter(daemon, viewNode(node('n', { ready: 'False' }), [])), []);
});

test('S2: nodeSelector and required node affinity choose the nodes', () => {
  const ssd = viewNode(node('n', { labels: { disk: 'ssd', generation: '3' } }), []);
  const reason = ["node(s) didn't match Pod's node affinity/selector"];
  const selecting = (nodeSelector: Record<string, string>) => filter(pod('a', { nodeSelector }), ssd);
  assert.deepEqual(selecting({ disk: 'ssd' }), []);
  assert.deepEqual(selecting({ disk: 'hdd' }), reason);
  const requiring = (matchExpressions: { key: string; operator: string; values?: string[] }[]) => {
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    return filter(pod('a', { spec: { affinity } }), ssd);
  };
  assert.deepEqual(requiring([{ key: 'disk', operator: 'In', values: ['ssd', 'nvme'] }]), []);
  assert.deepEqual(requiring([{ key: 'generation', operator: 'Gt', values: ['2'] }]), []);
  assert.deepEqual(requiring([{ key: 'generation', operator: 'Lt', values: ['3'] }]), reason);
  assert.deepEqual(requiring([{ key: 'disk', operator: 'DoesNotExist' }]), reason);
  assert.deepEqual(requiring([]), reason);
});

test('S3: requests are counted as upstream counts them', () => {
  const counted = pod('a', {
    spec: {
      initContainers: [
        { name: 'wait', resources: { requests: { cpu: '900m', memory: '10Mi' } } },
        { name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
      ],
      containers: [
        { name: 'one', resources: { requests: { cpu: '250m', memory: '64Mi' } } },
        { name: 'two', resources: { limits: { cpu: '0.25', memory: '1e6' } } },
      ],
    },
  });
  assert.deepEqual(
    requestsOf(counted),
    new Map([
      ['cpu', 1000],
      ['memory', 64 * 2 ** 20 + 1_000_000],
      ['pods', 1],
    ]),
  );
});

test('S3: what is short is named: cpu, memory, room for a pod, a host port', () => {
  const small = node('n', { cpu: '1', memory: '1Gi', pods: '1' });
  assert.deepEqual(filter(pod('a', { cpu: '2', memory: '2Gi' }), viewNode(small, [])), [
    'Insufficient cpu',
    'Insufficient memory',
  ]);
  assert.deepEqual(filter(pod('a'), viewNode(small, [pod('b')])), ['Too many pods']);
  assert.deepEqual(filter(pod('a', { hostPort: 80 }), viewNode(node('n'), [pod('b', { hostPort: 80 })])), [
    "node(s) didn't have free ports for the requested pod ports",
  ]);
});

const podFacts = fc.record({
  cpu: fc.constantFrom('0', '100m', '500m', '1', '3'),
  memory: fc.constantFrom('0', '64Mi', '1Gi', '3G'),
  controller: fc.constantFrom('x', 'y'),
});

test('S3: however many pods come, no node is ever asked for more than it has', () => {
  fc.assert(
    fc.property(fc.array(podFacts, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (arrivals, size) => {
      const nodes = Array.from({ length: size }, (_, index) => node(`n${index}`, { memory: '4Gi', pods: '6' }));
      const placed = new Map<string, ReturnType<typeof pod>[]>(nodes.map(({ metadata }) => [metadata.name ?? '', []]));
      arrivals.forEach((facts, index) => {
        const views = nodes.map((each) => viewNode(each, placed.get(each.metadata.name ?? '') ?? []));
        const choice = chooseNode(pod(`p${index}`, facts), views);
        if (choice.kind === 'node') placed.get(choice.nodeName)?.push(pod(`p${index}`, facts));
      });
      for (const each of nodes) {
        const { allocatable, requested } = viewNode(each, placed.get(each.metadata.name ?? '') ?? []);
        for (const [name, amount] of requested) assert.ok(amount <= (allocatable.get(name) ?? 0), name);
      }
    }),
  );
});

test('S4: pods of one controller spread over the nodes, then the emptiest is taken, then the first by name', () => {
  const views = [
    viewNode(node('a'), [pod('other', { cpu: '1' })]),
    viewNode(node('b'), [pod('sibling', { cpu: '1', controller: 'x' })]),
    viewNode(node('c'), [pod('another', { cpu: '2' })]),
  ];
  assert.deepEqual(chooseNode(pod('p', { cpu: '1', controller: 'x' }), views), { kind: 'node', nodeName: 'a' });
  assert.deepEqual(chooseNode(pod('p', { cpu: '1' }), empty(node('a'), node('b'))), { kind: 'node', nodeName: 'a' });
});

test('S4: three members of one cluster go to three nodes', () => {
  const nodes = ['a', 'b', 'c'].map((name) => node(name));
  const placed = new Map<string, ReturnType<typeof pod>[]>();
  for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) {
    const member = pod(name, { controller: 'cluster' });
    const choice = chooseNode(
      member,
      nodes.map((each) => viewNode(each, placed.get(each.metadata.name ?? '') ?? [])),
    );
    assert.equal(choice.kind, 'node');
    if (choice.kind === 'node') placed.set(choice.nodeName, [...(placed.get(choice.nodeName) ?? []), member]);
  }
  assert.deepEqual([...placed.keys()].sort(), ['a', 'b', 'c']);
});

test('S4: a score is higher where more stays free, and finite on a node that tells nothing of itself', () => {
  const views = [viewNode(node('a'), []), viewNode(node('b'), [pod('x', { cpu: '2' })])];
  const [free, busy] = views.map((view) => score(pod('p'), view, views));
  assert.ok((free ?? 0) > (busy ?? 0));
  const silent = viewNode({ metadata: { name: 'silent' } }, []);
  assert.equal(score(pod('p'), silent, [silent]), 200);
});

test('S5: obstacles of all nodes are counted in the order of upstream', () => {
  const views = empty(node('a', { cordoned: true }), node('b', { cpu: '1' }), node('c', { cordoned: true }));
  assert.deepEqual(chooseNode(pod('p', { cpu: '2' }), views), {
    kind: 'none',
    message: '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.',
  });
  assert.deepEqual(chooseNode(pod('p'), []), { kind: 'none', message: 'no nodes available to schedule pods' });
});
