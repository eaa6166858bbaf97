import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment, ReplicaSet } from '@castellan/machinery';
import { stuckInMs } from '../src/deployments/deployment-conditions.js';
import { deploymentStatus } from '../src/deployments/deployment-status.js';
import { obsoleteReplicaSets, planRollout } from '../src/deployments/plan-rollout.js';
import { rolloutAnnotations } from '../src/deployments/replica-set-annotations.js';
import { rollingLimits } from '../src/deployments/rolling-limits.js';
import { rolloutView } from '../src/deployments/rollout-view.js';
import { isSameTemplate, templateHash } from '../src/deployments/template-hash.js';

const nowMs = Date.parse('2026-01-01T00:10:00Z');

type Spec = NonNullable<Deployment['spec']>;

function deployment(replicas: number, more: Partial<Spec> = {}, status: Deployment['status'] = {}): Deployment {
  return {
    metadata: { namespace: 'team', name: 'web', uid: 'web', generation: 3 },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: templateOf('v2'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...more,
    },
    status,
  };
}

function templateOf(image: string, labels: Readonly<Record<string, string>> = { app: 'web' }) {
  return { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } };
}

interface SetFields {
  readonly revision?: number;
  readonly available?: number;
  readonly terminating?: number;
  /** What the Deployment wanted when it sized it, and the most that it allowed. */
  readonly sized?: readonly [number, number];
  readonly age?: number;
}

/** A ReplicaSet of an image, the older the smaller the number in it. */
function replicaSet(image: string, replicas: number, fields: SetFields = {}): ReplicaSet {
  const { revision = 1, available = replicas, terminating = 0, sized, age = 0 } = fields;
  const hash = { app: 'web', 'pod-template-hash': image };
  return {
    metadata: {
      namespace: 'team',
      name: `web-${image}`,
      uid: image,
      generation: 1,
      creationTimestamp: `2026-01-01T00:0${9 - age}:00Z`,
      annotations: {
        'deployment.kubernetes.io/revision': String(revision),
        ...(sized !== undefined && {
          'deployment.kubernetes.io/desired-replicas': String(sized[0]),
          'deployment.kubernetes.io/max-replicas': String(sized[1]),
        }),
      },
    },
    spec: { replicas, selector: { matchLabels: hash }, template: templateOf(image, hash) },
    status: { replicas, availableReplicas: available, terminatingReplicas: terminating, observedGeneration: 1 },
  };
}

/** What a pass does, as `v1 3>2`. */
function steps(of: Deployment, owned: readonly ReplicaSet[]): readonly string[] {
  const { create, change } = planRollout(of, owned);
  const resized = change.filter(({ before, after }) => before.spec?.replicas !== after.spec?.replicas);
  return [
    ...(create === undefined ? [] : [`new ${create.spec?.replicas}`]),
    ...resized.map(({ before, after }) => `${before.metadata.uid} ${before.spec?.replicas}>${after.spec?.replicas}`),
  ];
}

const rolling = (maxSurge: number | string, maxUnavailable: number | string): Partial<Spec> => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

test('DP3: limits in percent are rounded up for the surge and down for the unavailable; one of them is never 0', () => {
  const limits = (replicas: number, surge: string | number, unavailable: string | number) =>
    rollingLimits(deployment(replicas, rolling(surge, unavailable)));
  assert.deepEqual(limits(10, '25%', '25%'), { surge: 3, unavailable: 2 });
  assert.deepEqual(limits(3, '0%', '10%'), { surge: 0, unavailable: 1 });
  assert.deepEqual(limits(2, 0, 5), { surge: 0, unavailable: 2 });
  assert.deepEqual(limits(0, 0, 0), { surge: 0, unavailable: 0 });
});

const passes: readonly (readonly [string, Deployment, readonly ReplicaSet[], readonly string[]])[] = [
  ['a first rollout makes all pods', deployment(3), [], ['new 3']],
  ['a second one begins with the surge', deployment(3), [replicaSet('v1', 3)], ['new 1']],
  [
    'without surge it makes room first, in the pass in which the new one is made',
    deployment(4, rolling(0, 1)),
    [replicaSet('v1', 4)],
    ['new 0', 'v1 4>3'],
  ],
  [
    'an old pod goes when a new one is available',
    deployment(3),
    [replicaSet('v1', 3), replicaSet('v2', 1)],
    ['v1 3>2'],
  ],
  [
    'none goes while the new one is not available',
    deployment(3),
    [replicaSet('v1', 3), replicaSet('v2', 1, { available: 0 })],
    [],
  ],
  ['the new one grows when there is room', deployment(3), [replicaSet('v1', 2), replicaSet('v2', 1)], ['v2 1>2']],
  [
    'old pods that are not available go first, of every old ReplicaSet',
    deployment(4, rolling(1, 1)),
    [replicaSet('v0', 2, { available: 1, age: 2 }), replicaSet('v1', 2, { available: 1, age: 1 }), replicaSet('v2', 1)],
    ['v0 2>1', 'v1 2>1'],
  ],
  [
    'of old ReplicaSets the oldest shrinks first',
    deployment(4, rolling(1, 1)),
    [replicaSet('v0', 2, { age: 2 }), replicaSet('v1', 2, { age: 1 }), replicaSet('v2', 1)],
    ['v0 2>0'],
  ],
  ['the last old pods go', deployment(3), [replicaSet('v1', 1), replicaSet('v2', 3)], ['v1 1>0']],
  ['what is too large is made smaller', deployment(3), [replicaSet('v2', 5)], ['v2 5>3']],
  [
    'with Recreate all old pods are to go first',
    deployment(3, { strategy: { type: 'Recreate' } }),
    [replicaSet('v1', 3)],
    ['v1 3>0'],
  ],
  [
    'with Recreate nothing is made while an old pod still ends',
    deployment(3, { strategy: { type: 'Recreate' } }),
    [replicaSet('v1', 0, { terminating: 1 })],
    [],
  ],
  [
    'with Recreate all new pods are made when the old ones are gone',
    deployment(3, { strategy: { type: 'Recreate' } }),
    [replicaSet('v1', 0)],
    ['new 3'],
  ],
  ['paused, a new template is not rolled out', deployment(3, { paused: true }), [replicaSet('v1', 3)], []],
  [
    'paused, what is there is scaled',
    deployment(5, { paused: true }),
    [replicaSet('v1', 3, { sized: [3, 4] })],
    ['v1 3>5'],
  ],
  [
    'in the middle of a rollout each grows by its share, and the largest takes what is left',
    deployment(15, rolling(3, 2)),
    [replicaSet('v1', 8, { sized: [10, 13], age: 1 }), replicaSet('v2', 5, { sized: [10, 13] })],
    ['v1 8>11', 'v2 5>7'],
  ],
  [
    'in the middle of a rollout each shrinks by its share',
    deployment(5, rolling(0, 1)),
    [replicaSet('v1', 4, { sized: [10, 10], age: 1 }), replicaSet('v2', 6, { sized: [10, 10] })],
    ['v1 4>2', 'v2 6>3'],
  ],
  [
    'scaled to 0 in the middle of a rollout all go',
    deployment(0),
    [replicaSet('v1', 2, { sized: [3, 4], age: 1 }), replicaSet('v2', 2, { sized: [3, 4] })],
    ['v1 2>0', 'v2 2>0'],
  ],
];

for (const [what, of, owned, wanted] of passes) {
  test(`DP2: ${what}`, () => assert.deepEqual(steps(of, owned), wanted));
}

test('DP1: a hash is the same for the same template, in any order of its fields, another after a collision, and no part of what is compared', () => {
  const one = { spec: { containers: [{ name: 'main', image: 'a' }] }, metadata: { labels: { app: 'web' } } };
  const same = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ image: 'a', name: 'main' }] } };
  assert.match(templateHash(one), /^[bcdfghjklmnpqrstvwxz2456789]{8,10}$/);
  assert.equal(templateHash(one), templateHash(same));
  assert.notEqual(templateHash(one), templateHash(one, 1));
  assert.ok(isSameTemplate(templateOf('a', { app: 'web', 'pod-template-hash': 'x' }), templateOf('a')));
  assert.ok(!isSameTemplate(templateOf('a'), templateOf('b')));
});

test('DP1: a new ReplicaSet has the hash in its name, labels, selector and template', () => {
  const made = planRollout(deployment(1), []).create;
  const labels = { app: 'web', 'pod-template-hash': templateHash(templateOf('v2')) };
  assert.equal(made?.metadata.name, `web-${labels['pod-template-hash']}`);
  assert.deepEqual(made?.metadata.labels, labels);
  assert.deepEqual(made?.spec?.selector, { matchLabels: labels });
  assert.deepEqual(made?.spec?.template, templateOf('v2', labels));
  assert.deepEqual(made?.metadata.annotations, {
    'deployment.kubernetes.io/revision': '1',
    'deployment.kubernetes.io/desired-replicas': '1',
    'deployment.kubernetes.io/max-replicas': '2',
  });
});

test('DP4: a ReplicaSet that is rolled out again gets the next revision and remembers those that it had', () => {
  const owned = [replicaSet('v2', 0, { revision: 2, age: 1 }), replicaSet('v3', 1, { revision: 7 })];
  const [change] = planRollout(deployment(1), owned).change;
  assert.equal(change?.after.metadata.annotations?.['deployment.kubernetes.io/revision'], '8');
  assert.equal(change?.after.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '2');
  assert.deepEqual(
    rolloutAnnotations(
      { metadata: { annotations: { why: 'test', 'kubectl.kubernetes.io/last-applied-configuration': '{}' } } },
      { 'deployment.kubernetes.io/revision': '9', 'deployment.kubernetes.io/revision-history': '1,4' },
      12,
    ),
    {
      why: 'test',
      'deployment.kubernetes.io/revision': '12',
      'deployment.kubernetes.io/revision-history': '1,4,9',
    },
  );
});

test('DP6: ReplicaSets beyond the history go when the rollout is complete, the lowest revisions first, none with pods', () => {
  const old = [
    replicaSet('v0', 0, { revision: 3, age: 5 }),
    replicaSet('v1', 0, { revision: 1, age: 4, terminating: 1 }),
    replicaSet('v3', 0, { revision: 2, age: 3 }),
  ];
  const done = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, observedGeneration: 3 };
  const obsolete = (limit: number, status: Deployment['status'], paused = false) => {
    const of = deployment(1, { revisionHistoryLimit: limit, paused }, status);
    return obsoleteReplicaSets(of, rolloutView(of, [...old, replicaSet('v2', 1)])).map(({ metadata }) => metadata.uid);
  };
  assert.deepEqual(obsolete(1, done), ['v3']);
  assert.deepEqual(obsolete(0, done), ['v3', 'v0']);
  assert.deepEqual(obsolete(0, {}), []);
  assert.deepEqual(obsolete(0, {}, true), ['v3', 'v0']);
  assert.deepEqual(obsolete(2_147_483_647, done), []);
});

interface Said {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

function conditionsOf(of: Deployment, owned: readonly ReplicaSet[], at = nowMs, isHeld = false) {
  const facts = { view: rolloutView(of, owned), news: undefined, collisionCount: undefined, isHeld };
  const status = deploymentStatus(of, facts, at);
  const said = status.conditions?.map(
    ({ type, status, reason, message }: Said) => `${type}=${status} ${reason}: ${message}`,
  );
  return { status, said };
}

test('DP5: the conditions of a rollout that progresses and completes are upstream’s', () => {
  const first = conditionsOf(deployment(2), [replicaSet('v2', 2, { available: 1 })]);
  assert.deepEqual(first.said, [
    'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.',
    'Progressing=True ReplicaSetUpdated: ReplicaSet "web-v2" is progressing.',
  ]);
  assert.deepEqual(
    { ...first.status, conditions: [] },
    {
      observedGeneration: 3,
      replicas: 2,
      updatedReplicas: 2,
      availableReplicas: 1,
      unavailableReplicas: 1,
      terminatingReplicas: 0,
      conditions: [],
    },
  );
  const last = conditionsOf(deployment(2, {}, first.status), [replicaSet('v2', 2)]);
  assert.deepEqual(last.said, [
    'Available=True MinimumReplicasAvailable: Deployment has minimum availability.',
    'Progressing=True NewReplicaSetAvailable: ReplicaSet "web-v2" has successfully progressed.',
  ]);
  const again = conditionsOf(
    deployment(2, {}, last.status),
    [replicaSet('v2', 2, { available: 0 })],
    nowMs + 3_600_000,
  );
  assert.match(
    again.said?.join() ?? '',
    /NewReplicaSetAvailable/,
    'pods lost after the rollout are no rollout that is stuck',
  );
});

test('DP5: a rollout that makes no progress until its deadline is told so, once it is looked at, and may still complete', () => {
  const owned = [replicaSet('v2', 2, { available: 1 })];
  const started = conditionsOf(deployment(2), owned).status;
  assert.equal(stuckInMs(deployment(2), started, nowMs), 601_000);
  const stuck = conditionsOf(deployment(2, {}, started), owned, nowMs + 601_000);
  assert.match(
    stuck.said?.join() ?? '',
    /Progressing=False ProgressDeadlineExceeded: ReplicaSet "web-v2" has timed out progressing\./,
  );
  assert.equal(stuckInMs(deployment(2), stuck.status, nowMs), undefined);
  const done = conditionsOf(deployment(2, {}, stuck.status), [replicaSet('v2', 2)], nowMs + 700_000);
  assert.match(done.said?.join() ?? '', /Progressing=True NewReplicaSetAvailable/);
  const without = conditionsOf(deployment(2, { progressDeadlineSeconds: 2_147_483_647 }, started), owned);
  assert.doesNotMatch(without.said?.join() ?? '', /Progressing/);
});

test('DP5: pausing and resuming stop the deadline and start it anew', () => {
  const owned = [replicaSet('v2', 2, { available: 1 })];
  const started = conditionsOf(deployment(2), owned).status;
  const paused = conditionsOf(deployment(2, { paused: true }, started), owned, nowMs, true);
  assert.match(paused.said?.join() ?? '', /Progressing=Unknown DeploymentPaused: Deployment is paused/);
  const resumed = conditionsOf(deployment(2, {}, paused.status), owned, nowMs + 900_000);
  assert.match(resumed.said?.join() ?? '', /Progressing=Unknown DeploymentResumed: Deployment is resumed/);
});

test('DP5: what keeps pods from being made is a condition of the Deployment until it is over', () => {
  const refused = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' };
  const set = replicaSet('v2', 2, { available: 0 });
  const failing = { ...set, status: { replicas: 0, observedGeneration: 1, conditions: [refused] } };
  const failed = conditionsOf(deployment(2), [failing]);
  assert.match(failed.said?.join() ?? '', /ReplicaFailure=True FailedCreate: quota/);
  assert.doesNotMatch(conditionsOf(deployment(2, {}, failed.status), [set]).said?.join() ?? '', /ReplicaFailure/);
});
