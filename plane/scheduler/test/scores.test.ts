import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { chooseNode } from '../src/choose-node.js';
import { nodeAffinity } from '../src/plugins/node-affinity.js';
import { nodeResourcesBalanced, nodeResourcesFit } from '../src/plugins/node-resources.js';
import { taintToleration } from '../src/plugins/taint-toleration.js';
import { node, pod } from './objects.js';
import { options, points, scene } from './scene.js';

test('S4: the more of cpu and memory stays free, the better; who asks for nothing is taken to need a little', () => {
  const nodes = [node('a', { cpu: '4', memory: '8Gi' }), node('b', { cpu: '4', memory: '8Gi' })];
  const placed = { b: [pod('x', { cpu: '2', memory: '4Gi' })] };
  // Of 4 cores 3 stay free and of 8 GiB 6: 75 and 75; on b 1 and 2: 25 and 25.
  assert.deepEqual(points(nodeResourcesFit, pod('p', { cpu: '1', memory: '2Gi' }), { nodes, placed }), {
    a: 75,
    b: 25,
  });
  // 0.1 cores and 200 MiB: 97.5 and 97.6 of a hundred; on b 47.5 and 47.6.
  assert.deepEqual(points(nodeResourcesFit, pod('p'), { nodes, placed }), { a: 97, b: 47 });
});

test('S4: a node that tells nothing of itself has no points for its room', () => {
  const facts = { nodes: [{ metadata: { name: 'silent' } }] };
  assert.deepEqual(points(nodeResourcesFit, pod('p'), facts), { silent: 0 });
});

test('S4: a node where cpu and memory are taken alike is better than one where one of them runs short', () => {
  const nodes = [node('a', { cpu: '4', memory: '8Gi' }), node('b', { cpu: '4', memory: '8Gi' })];
  const placed = { b: [pod('x', { cpu: '2' })] };
  const request = pod('p', { cpu: '1', memory: '2Gi' });
  // On a 25 % of both; on b 75 % of cpu and 25 % of memory.
  assert.deepEqual(points(nodeResourcesBalanced, request, { nodes, placed }), { a: 100, b: 75 });
  assert.equal(points(nodeResourcesBalanced, pod('p'), { nodes, placed }), undefined);
});

test('S4: a taint that is only a preference makes a node worse, unless it is tolerated', () => {
  const prefer = { key: 'team', effect: 'PreferNoSchedule' };
  const nodes = [
    node('a'),
    node('b', { taints: [prefer] }),
    node('c', { taints: [prefer, { ...prefer, key: 'old' }] }),
  ];
  assert.deepEqual(points(taintToleration, pod('p'), { nodes }), { a: 100, b: 50, c: 0 });
  const tolerant = pod('p', { tolerations: [{ key: 'team', operator: 'Exists' }] });
  assert.deepEqual(points(taintToleration, tolerant, { nodes }), { a: 100, b: 100, c: 0 });
  assert.equal(points(taintToleration, pod('p'), { nodes: [node('a')] }), undefined);
});

test('S4: preferred node affinity counts by its weights', () => {
  const nodes = ['x', 'y', 'z'].map((disk) => node(disk, { labels: { disk } }));
  const prefers = (weight: number, disk: string) => ({
    weight,
    preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: [disk] }] },
  });
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [prefers(40, 'x'), prefers(10, 'y')] };
  const choosy = pod('p', { spec: { affinity: { nodeAffinity: preferred } } });
  assert.deepEqual(points(nodeAffinity, choosy, { nodes }), { x: 100, y: 25, z: 0 });
  assert.equal(points(nodeAffinity, pod('p'), { nodes }), undefined);
});

test('S4: among equals chance decides, and one seed gives the same run', () => {
  const stage = scene({ nodes: ['a', 'b', 'c'].map((name) => node(name)) });
  const run = (seed: number) => {
    const { random } = simulatedWorld(seed);
    const choices = Array.from({ length: 20 }, () => chooseNode(pod('p'), stage, { ...options, random }));
    return choices.map((choice) => (choice.kind === 'node' ? choice.nodeName : '')).join('');
  };
  assert.equal(run(7), run(7));
  assert.deepEqual([...new Set(run(7))].sort(), ['a', 'b', 'c']);
});
