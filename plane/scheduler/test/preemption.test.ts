import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, type PodDisruptionBudget, podDisruptionBudgets } from '@castellan/machinery';
import { chooseNode } from '../src/choose-node.js';
import { planPreemption } from '../src/preemption/plan-preemption.js';
import { node, type PodFacts, pod } from './objects.js';
import { options, type SceneFacts, scene } from './scene.js';

/** `NODE: VICTIMS`, or the message. */
function plan(preemptor: Pod, facts: SceneFacts): string {
  const stage = scene(facts);
  const choice = chooseNode(preemptor, stage, options);
  assert.equal(choice.kind, 'none');
  const planned = planPreemption(preemptor, choice.refusals, stage, options);
  if (planned.kind === 'none') return planned.message.trimStart();
  return `${planned.nodeName}: ${planned.victims.map(({ metadata }) => metadata.name).join(' ')}`;
}

const urgent = (facts: PodFacts = {}) => pod('urgent', { cpu: '2', ...facts, spec: { priority: 100, ...facts.spec } });

function lesser(name: string, facts: PodFacts & { readonly priority?: number; readonly startTime?: string } = {}): Pod {
  const made = pod(name, { cpu: '1', ...facts, spec: { priority: facts.priority ?? 0 } });
  const labels = { app: name };
  const status = { ...made.status, startTime: facts.startTime ?? '2026-01-01T00:00:00Z' };
  return { ...made, metadata: { ...made.metadata, labels }, status };
}

test('S11: as few pods go as make room, the least important ones', () => {
  const placed = { a: [lesser('x', { priority: 5 }), lesser('y', { priority: 1 }), lesser('z', { priority: 3 })] };
  assert.equal(plan(urgent(), { nodes: [node('a', { cpu: '3' })], placed }), 'a: z y');
});

test('S11: of two alike the one that came later goes', () => {
  const placed = { a: [lesser('late', { startTime: '2026-01-02T00:00:00Z' }), lesser('early')] };
  assert.equal(plan(urgent({ cpu: '1' }), { nodes: [node('a', { cpu: '2' })], placed }), 'a: late');
});

test('S11: pods of the same priority stay, and no other node can help', () => {
  const facts = {
    nodes: [node('a', { cpu: '2' }), node('b', { cordoned: true })],
    placed: { a: [lesser('peer', { priority: 100 })] },
  };
  assert.equal(
    plan(urgent(), facts),
    'preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, ' +
      '1 Preemption is not helpful for scheduling.',
  );
});

test('S11: a pod that would not fit however many went has none go', () => {
  const placed = { a: [lesser('x'), lesser('peer', { priority: 100 })] };
  assert.equal(
    plan(urgent(), { nodes: [node('a', { cpu: '2' })], placed }),
    'preemption: 0/1 nodes are available: 1 Insufficient cpu.',
  );
});

test('S11: a pod whose policy is Never has no other go', () => {
  const placed = { a: [lesser('x')] };
  assert.equal(
    plan(urgent({ spec: { preemptionPolicy: 'Never' } }), { nodes: [node('a', { cpu: '2' })], placed }),
    'preemption: not eligible due to preemptionPolicy=Never.',
  );
});

test('S11: while pods go for it from its node, a pod has no others go', () => {
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
  const going = lesser('going');
  const terminating: Pod = {
    ...going,
    metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    status: { conditions },
  };
  const waiting = { ...urgent(), status: { nominatedNodeName: 'a' } };
  const facts = {
    nodes: [node('a', { cpu: '2' }), node('b', { cpu: '2' })],
    placed: { a: [terminating], b: [lesser('x')] },
    pending: [waiting],
  };
  assert.equal(plan(waiting, facts), 'preemption: not eligible due to a terminating pod on the nominated node.');
});

function budget(app: string, disruptionsAllowed: number): PodDisruptionBudget {
  return {
    metadata: { namespace: 'default', name: app },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
  };
}

test('S11: a budget is kept where another pod can go, and broken where none can', () => {
  const protects = { others: [[podDisruptionBudgets, budget('kept', 0)]] } as const;
  const both = { a: [lesser('kept', { priority: 1 }), lesser('free', { priority: 2 })] };
  assert.equal(plan(urgent({ cpu: '1' }), { nodes: [node('a', { cpu: '2' })], placed: both, ...protects }), 'a: free');
  const nodes = [node('a', { cpu: '2' }), node('b', { cpu: '2' })];
  const placed = { a: [lesser('kept', { cpu: '2' })], b: [lesser('free', { cpu: '2', priority: 50 })] };
  assert.equal(plan(urgent(), { nodes, placed, ...protects }), 'b: free');
  assert.equal(plan(urgent(), { nodes: nodes.slice(0, 1), placed: { a: placed.a }, ...protects }), 'a: kept');
});

test('S11: of several nodes that one gives room where the least harm is done', () => {
  const nodes = ['a', 'b', 'c'].map((name) => node(name, { cpu: '2' }));
  const placed = {
    a: [lesser('a-high', { cpu: '2', priority: 9 })],
    b: [lesser('b-one', { priority: 3 }), lesser('b-two', { priority: 3 })],
    c: [lesser('c-one', { cpu: '2', priority: 3 })],
  };
  assert.equal(plan(urgent(), { nodes, placed }), 'c: c-one');
});
