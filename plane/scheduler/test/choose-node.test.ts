import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@castellan/machinery';
import fc from 'fast-check';
import { requestsOf } from '../src/cluster/resources.js';
import { node, type PodFacts, pod } from './objects.js';
import { choose, refusals, type SceneFacts } from './scene.js';

const on = (single: Node): SceneFacts => ({ nodes: [single] });
const notTolerated = ['node(s) had untolerated taint(s)'];

test('S1: a node that is not ready, unreachable, cordoned or tainted is refused, each in upstream words', () => {
  const refused = (...facts: Parameters<typeof node>) => refusals(pod('a'), on(node(...facts))).n;
  assert.deepEqual(refused('n', { ready: 'False' }), notTolerated);
  assert.deepEqual(refused('n', { ready: 'Unknown' }), notTolerated);
  assert.deepEqual(refused('n', { cordoned: true }), ['node(s) were unschedulable']);
  assert.deepEqual(refused('n', { taints: [{ key: 'team', value: 'db', effect: 'NoSchedule' }] }), notTolerated);
  assert.deepEqual(refused('n', { taints: [{ key: 'team', effect: 'NoExecute' }] }), notTolerated);
  assert.equal(refused('n', { taints: [{ key: 'team', effect: 'PreferNoSchedule' }] }), undefined);
});

test('S1: a toleration admits exactly what it names', () => {
  const tainted = on(node('n', { taints: [{ key: 'team', value: 'db', effect: 'NoSchedule' }] }));
  const admitted = (toleration: NonNullable<PodFacts['tolerations']>[number]) =>
    refusals(pod('a', { tolerations: [toleration] }), tainted).n === undefined;
  assert.ok(admitted({ key: 'team', operator: 'Equal', value: 'db', effect: 'NoSchedule' }));
  assert.ok(admitted({ key: 'team', operator: 'Exists' }));
  assert.ok(admitted({ operator: 'Exists' }));
  assert.ok(!admitted({ key: 'team', operator: 'Equal', value: 'web' }));
  assert.ok(!admitted({ key: 'other', operator: 'Exists' }));
  assert.ok(!admitted({ key: 'team', operator: 'Exists', effect: 'NoExecute' }));
});

test('S1: a daemon that tolerates not-ready is placed on a node that is not ready', () => {
  const daemon = pod('a', { tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }] });
  assert.deepEqual(refusals(daemon, on(node('n', { ready: 'False' }))), {});
});

test('S2: nodeSelector and required node affinity choose the nodes', () => {
  const ssd = on(node('n', { labels: { disk: 'ssd', generation: '3' } }));
  const reason = ["node(s) didn't match Pod's node affinity/selector"];
  const selecting = (nodeSelector: Record<string, string>) => refusals(pod('a', { nodeSelector }), ssd).n;
  assert.equal(selecting({ disk: 'ssd' }), undefined);
  assert.deepEqual(selecting({ disk: 'hdd' }), reason);
  const requiring = (matchExpressions: { key: string; operator: string; values?: string[] }[]) => {
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    return refusals(pod('a', { spec: { affinity } }), ssd).n;
  };
  assert.equal(requiring([{ key: 'disk', operator: 'In', values: ['ssd', 'nvme'] }]), undefined);
  assert.equal(requiring([{ key: 'generation', operator: 'Gt', values: ['2'] }]), undefined);
  assert.deepEqual(requiring([{ key: 'generation', operator: 'Lt', values: ['3'] }]), reason);
  assert.deepEqual(requiring([{ key: 'disk', operator: 'Gt', values: ['1'] }]), reason);
  assert.deepEqual(requiring([{ key: 'disk', operator: 'DoesNotExist' }]), reason);
  assert.deepEqual(requiring([]), reason);
});

test('S2: the pod of a DaemonSet goes to the node that it names, and the others are told of apart', () => {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['b'] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const choice = choose(pod('p', { cpu: '9', spec: { affinity } }), { nodes: [node('a'), node('b'), node('c')] });
  assert.equal(choice.kind, 'none');
  assert.equal(
    choice.kind === 'none' && choice.message,
    "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
  );
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
      overhead: { cpu: '50m' },
    },
  });
  assert.deepEqual(
    requestsOf(counted),
    new Map([
      ['cpu', 950],
      ['memory', 64 * 2 ** 20 + 1_000_000],
      ['pods', 1],
    ]),
  );
});

test('S3: what a pod asks for as a whole stands above what its containers ask for', () => {
  const resources = { requests: { cpu: '2' } };
  const containers = [{ name: 'one', resources: { requests: { cpu: '250m', memory: '1Mi' } } }];
  const counted = requestsOf(pod('a', { spec: Object.assign({ containers }, { resources }) }));
  assert.deepEqual(
    [...counted],
    [
      ['cpu', 2000],
      ['memory', 2 ** 20],
      ['pods', 1],
    ],
  );
});

test('S3: what is short is named: cpu, memory, devices, room for a pod, a host port', () => {
  const small = node('n', { cpu: '1', memory: '1Gi', pods: '1' });
  assert.deepEqual(refusals(pod('a', { cpu: '2', memory: '2Gi' }), on(small)).n, [
    'Insufficient cpu',
    'Insufficient memory',
  ]);
  const full = { nodes: [small], placed: { n: [pod('b')] } };
  assert.deepEqual(refusals(pod('a'), full).n, ['Too many pods']);
  const gpu = { resources: { requests: { 'example.com/gpu': '1' } } };
  const wantsGpu = pod('a', { spec: { containers: [{ name: 'main', ...gpu }] } });
  assert.deepEqual(refusals(wantsGpu, on(node('n'))).n, ['Insufficient example.com/gpu']);
  const taken = { nodes: [node('n')], placed: { n: [pod('b', { hostPort: 80 })] } };
  assert.deepEqual(refusals(pod('a', { hostPort: 80 }), taken).n, [
    "node(s) didn't have free ports for the requested pod ports",
  ]);
  assert.deepEqual(refusals(pod('a', { hostPort: 81 }), taken), {});
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
      const placed: Record<string, ReturnType<typeof pod>[]> = {};
      arrivals.forEach((facts, index) => {
        const choice = choose(pod(`p${index}`, facts), { nodes, placed });
        if (choice.kind !== 'node') return;
        placed[choice.nodeName] = [...(placed[choice.nodeName] ?? []), pod(`p${index}`, facts)];
      });
      for (const onNode of Object.values(placed)) {
        const total = (name: string) => onNode.reduce((sum, each) => sum + (requestsOf(each).get(name) ?? 0), 0);
        assert.ok(total('cpu') <= 4000);
        assert.ok(total('memory') <= 4 * 2 ** 30);
        assert.ok(onNode.length <= 6);
      }
    }),
    { numRuns: 50 },
  );
});

test('S4: pods of one controller spread over the nodes, then the emptiest is taken', () => {
  const nodes = ['a', 'b', 'c'].map((name) => node(name, { labels: { 'kubernetes.io/hostname': name } }));
  const placed = {
    a: [pod('other', { cpu: '1' })],
    b: [pod('sibling', { cpu: '1', controller: 'x' })],
    c: [pod('another', { cpu: '2' })],
  };
  const choice = choose(pod('p', { cpu: '1', controller: 'x' }), { nodes, placed });
  assert.deepEqual(choice, { kind: 'node', nodeName: 'a' });
});

test('S4: three members of one cluster go to three nodes', () => {
  const nodes = ['a', 'b', 'c'].map((name) => node(name, { labels: { 'kubernetes.io/hostname': name } }));
  const placed: Record<string, ReturnType<typeof pod>[]> = {};
  for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) {
    const member = pod(name, { controller: 'cluster' });
    const choice = choose(member, { nodes, placed });
    assert.equal(choice.kind, 'node');
    if (choice.kind === 'node') placed[choice.nodeName] = [member];
  }
  assert.deepEqual(Object.keys(placed).sort(), ['a', 'b', 'c']);
});

test('S5: obstacles of all nodes are counted in the order of upstream', () => {
  const nodes = [node('a', { cordoned: true }), node('b', { cpu: '1' }), node('c', { cordoned: true })];
  const choice = choose(pod('p', { cpu: '2' }), { nodes });
  assert.equal(
    choice.kind === 'none' && choice.message,
    '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.',
  );
  const nowhere = choose(pod('p'), { nodes: [] });
  assert.equal(nowhere.kind === 'none' && nowhere.message, 'no nodes available to schedule pods');
});
