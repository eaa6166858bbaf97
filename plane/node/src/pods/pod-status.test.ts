import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@castellan/machinery';
import type { ContainerFacts } from './container-facts.js';
import { planPod } from './pod-plan.js';
import { podStatus } from './pod-status.js';

const pod: Pod = {
  metadata: { name: 'a', namespace: 'default' },
  spec: {
    containers: [
      { name: 'one', image: 'i' },
      { name: 'two', image: 'i' },
    ],
  },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:01Z' },
    ],
  },
};

function running(name: string, isReady: boolean): ContainerFacts {
  const current = { id: `u/${name}/0`, image: 'i', imageId: 'program://i', startedAtMs: 0, backoffMs: 0 };
  return { name, current, restartCount: 0, isStarted: true, isReady };
}

function statusOf(facts: readonly ContainerFacts[], of: Pod = pod) {
  const map = new Map(facts.map((fact) => [fact.name, fact]));
  const plan = planPod(of.spec ?? { containers: [] }, map, 0);
  return podStatus({ pod: of, facts: map, plan, podIp: '10.0.0.2', hostIp: '10.0.0.1', startedAtMs: 0, nowMs: 5_000 });
}

function condition(status: ReturnType<typeof statusOf>, type: string) {
  return status.conditions?.find((each) => each.type === type);
}

test('N7 a pod is Pending until each container was started once', () => {
  assert.equal(statusOf([]).phase, 'Pending');
  assert.equal(statusOf([running('one', true)]).phase, 'Pending');
  assert.equal(statusOf([running('one', true), running('two', false)]).phase, 'Running');
});

test('N10 a pod is Ready when all its containers are; the condition says which are not', () => {
  const partly = statusOf([running('one', true), running('two', false)]);
  assert.equal(condition(partly, 'Ready')?.message, 'containers with unready status: [two]');
  const wholly = statusOf([running('one', true), running('two', true)]);
  assert.equal(condition(wholly, 'Ready')?.status, 'True');
  assert.equal(condition(wholly, 'Ready')?.lastTransitionTime, '1970-01-01T00:00:05Z');
});

test("N10 others' conditions stay, and a time changes with its status only", () => {
  const status = statusOf([running('one', true), running('two', false)]);
  assert.deepEqual(condition(status, 'PodScheduled'), pod.status?.conditions?.[0]);
  assert.equal(condition(status, 'Ready')?.lastTransitionTime, '2026-01-01T00:00:01Z');
});

test('N10 a closed readiness gate keeps a pod from being Ready', () => {
  const gated: Pod = {
    ...pod,
    spec: { containers: pod.spec?.containers ?? [], readinessGates: [{ conditionType: 'example.com/gate' }] },
  };
  const facts = [running('one', true), running('two', true)];
  const closed = statusOf(facts, gated);
  assert.equal(condition(closed, 'ContainersReady')?.status, 'True');
  assert.equal(condition(closed, 'Ready')?.reason, 'ReadinessGatesNotReady');
  const conditions = [{ type: 'example.com/gate', status: 'True' }];
  assert.equal(condition(statusOf(facts, { ...gated, status: { conditions } }), 'Ready')?.status, 'True');
});
