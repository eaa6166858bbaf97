import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonSet, Node, Pod, Taint } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { daemonPod } from '../src/daemon-sets/daemon-pod.js';
import { daemonStatus } from '../src/daemon-sets/daemon-status.js';
import { FailureBackoff } from '../src/daemon-sets/failure-backoff.js';
import { nodeFit } from '../src/daemon-sets/node-fit.js';
import { planDaemons } from '../src/daemon-sets/plan-daemons.js';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const earlier = '2026-01-01T00:00:00Z';

type Spec = NonNullable<DaemonSet['spec']>;
type TemplateSpec = NonNullable<Spec['template']['spec']>;

function daemonSet(more: Partial<Spec> = {}, template: Partial<TemplateSpec> = {}): DaemonSet {
  return {
    metadata: { namespace: 'team', name: 'agent', uid: 'agent', generation: 2 },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [], ...template } },
      ...more,
    },
  };
}

const rolling = (maxUnavailable: number | string, maxSurge: number | string = 0): Partial<Spec> => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
});

function node(name: string, labels: Readonly<Record<string, string>> = {}, taints: readonly Taint[] = []): Node {
  return { metadata: { name, labels }, spec: { taints } };
}

interface PodFields {
  readonly phase?: string;
  readonly isReady?: boolean;
  readonly isLeaving?: boolean;
  readonly isUnbound?: boolean;
}

/** `v1 on a`: the pod of a revision on a node. */
function pod(text: string, fields: PodFields = {}): Pod {
  const { phase = 'Running', isReady = true, isLeaving = false, isUnbound = false } = fields;
  const [hash = '', , nodeName = ''] = text.split(' ');
  const made = daemonPod(daemonSet(), nodeName, hash);
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: earlier };
  return {
    ...made,
    metadata: {
      ...made.metadata,
      name: text,
      creationTimestamp: earlier,
      ...(isLeaving && { deletionTimestamp: earlier }),
    },
    spec: { containers: [], ...made.spec, ...(isUnbound ? {} : { nodeName }) },
    status: { phase, conditions: [ready] },
  };
}

/** What a pass does, as `+a` and `-v1 on a`; the present revision is v2. */
function steps(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): readonly string[] {
  const plan = planDaemons({ set, nodes, pods, hash: 'v2', nowMs, mayReplaceFailed: () => true });
  return [...plan.create.map((name) => `+${name}`), ...plan.delete.map(({ metadata }) => `-${metadata.name}`)];
}

const [a, b, c] = [node('a'), node('b'), node('c')];
const old = ['v1 on a', 'v1 on b', 'v1 on c'];
const passes: readonly (readonly [string, DaemonSet, readonly Node[], readonly Pod[], readonly string[]])[] = [
  ['a node without a pod gets one', daemonSet(), [a, b], [pod('v2 on a')], ['+b']],
  ['a pod that is leaving is waited for', daemonSet(), [a], [pod('v2 on a', { isLeaving: true })], []],
  ['a pod that waits for its node is its', daemonSet(), [a], [pod('v2 on a', { isUnbound: true })], []],
  [
    'of two pods on a node the one that waits goes',
    daemonSet(),
    [a],
    [pod('v2 on a'), pod('v2 on a again', { isUnbound: true })],
    ['-v2 on a again'],
  ],
  ['one that failed goes, to be made anew', daemonSet(), [a], [pod('v2 on a', { phase: 'Failed' })], ['-v2 on a']],
  ['one that ended well goes too', daemonSet(), [a], [pod('v2 on a', { phase: 'Succeeded' })], ['-v2 on a']],
  [
    'one for a node that is gone goes when nobody can bind it',
    daemonSet(),
    [],
    [pod('v2 on a', { isUnbound: true })],
    ['-v2 on a'],
  ],
  [
    'a node that fits no more loses its pod',
    daemonSet({}, { nodeSelector: { disk: 'ssd' } }),
    [a],
    [pod('v2 on a')],
    ['-v2 on a'],
  ],
  [
    'a taint NoSchedule lets stay who is there',
    daemonSet(),
    [node('a', {}, [{ key: 'k', effect: 'NoSchedule' }]), node('b', {}, [{ key: 'k', effect: 'NoSchedule' }])],
    [pod('v2 on a')],
    [],
  ],
  ['an update takes one node after the other', daemonSet(), [a, b, c], old.map((text) => pod(text)), ['-v1 on a']],
  [
    'or as many as may be unavailable',
    daemonSet(rolling('50%')),
    [a, b, c],
    old.map((text) => pod(text)),
    ['-v1 on a', '-v1 on b'],
  ],
  [
    'it waits while a new pod is not available',
    daemonSet(),
    [a, b],
    [pod('v2 on a', { isReady: false }), pod('v1 on b')],
    [],
  ],
  [
    'old pods that do not serve go at once',
    daemonSet(),
    [a, b, c],
    [pod('v1 on a', { isReady: false }), pod('v1 on b', { isReady: false }), pod('v1 on c')],
    ['-v1 on a', '-v1 on b'],
  ],
  ['a new node counts as unavailable', daemonSet(), [a, b], [pod('v1 on a')], ['+b']],
  ['with OnDelete nothing is updated', daemonSet({ updateStrategy: { type: 'OnDelete' } }), [a], [pod('v1 on a')], []],
  ['with surge the new pod comes first', daemonSet(rolling(0, 1)), [a, b], [pod('v1 on a'), pod('v1 on b')], ['+a']],
  [
    'with surge the old pod stays until the new one is available',
    daemonSet(rolling(0, 1)),
    [a, b],
    [pod('v1 on a'), pod('v2 on a', { isReady: false }), pod('v1 on b')],
    [],
  ],
  ['and goes then', daemonSet(rolling(0, 1)), [a], [pod('v1 on a'), pod('v2 on a')], ['-v1 on a']],
  [
    'with surge an old pod that does not serve gets its successor at once',
    daemonSet(rolling(0, 1)),
    [a, b],
    [pod('v1 on a', { isReady: false }), pod('v1 on b')],
    ['+a', '+b'],
  ],
];

for (const [what, set, nodes, pods, wanted] of passes) {
  test(`DS1, DS3: ${what}`, () => assert.deepEqual(steps(set, nodes, pods), wanted));
}

test('DS1: a failed pod is left for as long as its back-off says', () => {
  const { failed, delete: gone } = planDaemons({
    set: daemonSet(),
    nodes: [a],
    pods: [pod('v2 on a', { phase: 'Failed' })],
    hash: 'v2',
    nowMs,
    mayReplaceFailed: () => false,
  });
  assert.deepEqual([failed, gone], [[], []]);
});

test('DS1: the back-off of a node doubles from 1 s to 15 min, and is forgotten after a quiet time', () => {
  const { clock } = simulatedWorld(1);
  let elapsedMs = 0;
  const backoff = new FailureBackoff({ ...clock, monotonicNow: () => elapsedMs });
  const waits = Array.from({ length: 12 }, () => {
    assert.equal(backoff.take('a'), 0);
    const leftMs = backoff.take('a');
    elapsedMs += leftMs;
    return leftMs / 1_000;
  });
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  elapsedMs += 31 * 60_000;
  backoff.take('a');
  assert.equal(backoff.take('a'), 1_000);
});

test('DS2: pods tolerate the troubles of their node, and are bound to it by its name', () => {
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } }];
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['x'] }] }] };
  const nodeAffinity = {
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
    requiredDuringSchedulingIgnoredDuringExecution: required,
  };
  const own = { key: 'k', operator: 'Exists' };
  const { metadata, spec } = daemonPod(
    daemonSet({}, { affinity: { nodeAffinity }, tolerations: [own], hostNetwork: true }),
    'a',
    'v2',
  );
  assert.equal(metadata.generateName, 'agent-');
  assert.deepEqual(metadata.labels, { app: 'agent', 'controller-revision-hash': 'v2' });
  assert.deepEqual(spec?.affinity?.nodeAffinity, {
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
    },
  });
  assert.deepEqual(
    spec?.tolerations?.map(({ key, effect }) => `${key?.replace('node.kubernetes.io/', '')} ${effect}`),
    [
      'k undefined',
      'not-ready NoExecute',
      'unreachable NoExecute',
      'disk-pressure NoSchedule',
      'memory-pressure NoSchedule',
      'pid-pressure NoSchedule',
      'unschedulable NoSchedule',
      'network-unavailable NoSchedule',
    ],
  );
});

test('DS2: which nodes fit follows from name, labels, affinity and taints', () => {
  const taint = (key: string, effect: string): Taint => ({ key, effect });
  const fit = (template: Partial<TemplateSpec>, on: Node) => Object.values(nodeFit(daemonSet({}, template), on));
  assert.deepEqual(fit({}, a), [true, true]);
  assert.deepEqual(fit({ nodeName: 'b' }, a), [false, false]);
  assert.deepEqual(fit({ nodeSelector: { zone: 'x' } }, node('a', { zone: 'x' })), [true, true]);
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['x'] }] }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  assert.deepEqual(fit({ affinity }, node('a', { zone: 'x' })), [false, false]);
  assert.deepEqual(fit({}, node('a', {}, [taint('k', 'NoSchedule')])), [false, true]);
  assert.deepEqual(fit({}, node('a', {}, [taint('k', 'NoExecute')])), [false, false]);
  assert.deepEqual(fit({}, node('a', {}, [taint('k', 'PreferNoSchedule')])), [true, true]);
  assert.deepEqual(fit({}, node('a', {}, [taint('node.kubernetes.io/unschedulable', 'NoSchedule')])), [true, true]);
  assert.deepEqual(fit({ tolerations: [{ operator: 'Exists' }] }, node('a', {}, [taint('k', 'NoExecute')])), [
    true,
    true,
  ]);
});

test('DS4: the status counts nodes, and of each its oldest pod', () => {
  const set = daemonSet({ minReadySeconds: 10 }, { nodeSelector: { run: 'yes' } });
  const yes = { run: 'yes' };
  const nodes = [node('a', yes), node('b', yes), node('c', yes), node('d')];
  const pods = [pod('v2 on a'), pod('v1 on b', { isReady: false }), pod('v1 on d')];
  assert.deepEqual(daemonStatus(set, { nodes, pods, hash: 'v2', collisionCount: 0, nowMs }), {
    currentNumberScheduled: 2,
    numberMisscheduled: 1,
    desiredNumberScheduled: 3,
    numberReady: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 2,
    observedGeneration: 2,
  });
});
