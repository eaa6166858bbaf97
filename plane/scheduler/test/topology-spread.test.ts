import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '@castellan/machinery';
import { podTopologySpread } from '../src/plugins/topology-spread.js';
import { node, pod } from './objects.js';
import { points, refusals } from './scene.js';

type Constraint = NonNullable<PodSpec['topologySpreadConstraints']>[number];

const zones = [
  node('a', { labels: { zone: '1' } }),
  node('b', { labels: { zone: '1' } }),
  node('c', { labels: { zone: '2' } }),
];
const skewed = ["node(s) didn't match pod topology spread constraints"];

function web(name: string, more: Partial<Constraint> = {}, facts: Parameters<typeof pod>[1] = {}): Pod {
  const constraint: Constraint = {
    topologyKey: 'zone',
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'web' } },
    ...more,
  };
  const metadata = { namespace: 'default', name, uid: name, labels: { app: 'web' } };
  return pod(name, { metadata, ...facts, spec: { ...facts.spec, topologySpreadConstraints: [constraint] } });
}

test('S12: a domain takes at most maxSkew more than the emptiest has', () => {
  const placed = { a: [web('one')] };
  assert.deepEqual(refusals(web('p'), { nodes: zones, placed }), { a: skewed, b: skewed });
  assert.deepEqual(refusals(web('p', { maxSkew: 2 }), { nodes: zones, placed }), {});
});

test('S12: a node without the label is told of apart', () => {
  assert.deepEqual(refusals(web('p'), { nodes: [...zones, node('nowhere')] }), {
    nowhere: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  });
});

test('S12: with fewer domains than minDomains the emptiest is taken for empty', () => {
  const placed = { a: [web('one')], c: [web('two')] };
  assert.deepEqual(refusals(web('p'), { nodes: zones, placed }), {});
  assert.deepEqual(Object.keys(refusals(web('p', { minDomains: 3 }), { nodes: zones, placed })), ['a', 'b', 'c']);
});

test('S12: pods that are going, of other namespaces or of other labels do not count', () => {
  const going = web('going');
  const placed = {
    a: [
      { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      pod('other'),
      { ...web('far'), metadata: { namespace: 'far', name: 'far', labels: { app: 'web' } } },
    ],
  };
  assert.deepEqual(refusals(web('p'), { nodes: zones, placed }), {});
});

test('S12: nodes that the pod may not go to are no domains, as the policies of the constraint say', () => {
  const taints = [{ key: 'team', effect: 'NoSchedule' }];
  const nodes = [
    ...zones,
    node('d', { labels: { zone: '3' }, taints }),
    node('e', { labels: { zone: '4', old: 'yes' } }),
  ];
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'old', operator: 'DoesNotExist' }] }],
  };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const placed = { a: [web('one')], c: [web('two')] };
  const open = (more: Partial<Constraint>) => {
    const refused = refusals(web('p', more, { spec: { affinity } }), { nodes, placed });
    return nodes.map(({ metadata }) => metadata.name ?? '').filter((name) => refused[name] === undefined);
  };
  // Zone 3 is empty and counts, though its node repels the pod: so nowhere is good.
  assert.deepEqual(open({}), []);
  assert.deepEqual(open({ nodeTaintsPolicy: 'Honor' }), ['a', 'b', 'c']);
  assert.deepEqual(open({ nodeTaintsPolicy: 'Honor', nodeAffinityPolicy: 'Ignore' }), []);
});

test('S12: ScheduleAnyway makes emptier domains better and refuses none', () => {
  const anyway = web('p', { whenUnsatisfiable: 'ScheduleAnyway' });
  const placed = { a: [web('one'), web('two')] };
  assert.deepEqual(refusals(anyway, { nodes: zones, placed }), {});
  const scored = points(podTopologySpread, anyway, { nodes: [...zones, node('nowhere')], placed });
  assert.deepEqual(scored, { a: 0, b: 0, c: 100, nowhere: 0 });
});

test('S12: a pod without constraints is spread from those of its controller', () => {
  const nodes = ['a', 'b'].map((name) => node(name, { labels: { 'kubernetes.io/hostname': name } }));
  const placed = { a: [pod('one', { controller: 'x' }), pod('two', { controller: 'x' })], b: [pod('other')] };
  assert.deepEqual(points(podTopologySpread, pod('p', { controller: 'x' }), { nodes, placed }), { a: 40, b: 100 });
  assert.equal(points(podTopologySpread, pod('p'), { nodes, placed }), undefined);
});
