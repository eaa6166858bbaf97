import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '@castellan/machinery';
import { interPodAffinity } from '../src/plugins/pod-affinity.js';
import { node, pod } from './objects.js';
import { choose, points, refusals, type SceneFacts } from './scene.js';

const hostname = 'kubernetes.io/hostname';
const hosts = ['a', 'b', 'c'].map((name) =>
  node(name, { labels: { [hostname]: name, zone: name === 'c' ? '2' : '1' } }),
);

function labelled(name: string, affinity?: PodSpec['affinity'], namespace = 'default'): Pod {
  const metadata = { namespace, name, uid: `${namespace}-${name}`, labels: { app: 'etcd' } };
  return pod(name, { metadata, spec: affinity === undefined ? {} : { affinity } });
}

function term(topologyKey: string, app = 'etcd') {
  return [{ labelSelector: { matchLabels: { app } }, topologyKey }];
}

const away = (topologyKey: string) => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term(topologyKey) },
});
const near = (topologyKey: string) => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term(topologyKey) },
});

const stage = (placed: SceneFacts['placed'] = {}): SceneFacts => ({ nodes: hosts, placed });
const messageOf = (...args: Parameters<typeof choose>) => {
  const choice = choose(...args);
  return choice.kind === 'none' ? choice.message : undefined;
};

test('S2: members that must be apart go to one host each, and the next one waits and is told why', () => {
  const placed: Record<string, Pod[]> = {};
  for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) {
    const member = labelled(name, away(hostname));
    const choice = choose(member, stage(placed));
    assert.equal(choice.kind, 'node');
    if (choice.kind === 'node') placed[choice.nodeName] = [member];
  }
  assert.deepEqual(Object.keys(placed).sort(), ['a', 'b', 'c']);
  assert.equal(
    messageOf(labelled('etcd-3', away(hostname)), stage(placed)),
    "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.",
  );
});

test('S2: a whole zone is out of bounds when the term names zones, and a node without a zone is not', () => {
  const facts = { nodes: [...hosts, node('nowhere')], placed: { a: [labelled('x')] } };
  assert.deepEqual(Object.keys(refusals(labelled('y', away('zone')), facts)), ['a', 'b']);
});

test('S2: pods that are there already keep others away by their own rules', () => {
  assert.deepEqual(refusals(labelled('y'), stage({ a: [labelled('hermit', away(hostname))] })), {
    a: ["node(s) didn't satisfy existing pods anti-affinity rules"],
  });
});

test('S2: a pod is placed near those it must be near; the first of such a group may go anywhere', () => {
  assert.deepEqual(Object.keys(refusals(labelled('y', near('zone')), stage({ c: [labelled('x')] }))), ['a', 'b']);
  assert.equal(choose(labelled('first', near('zone')), stage()).kind, 'node');
  const stranger = {
    ...labelled('stranger', near('zone')),
    metadata: { namespace: 'default', name: 'stranger', labels: {} },
  };
  assert.equal(messageOf(stranger, stage()), "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.");
});

test('S2: a term speaks of its own namespace, unless it names others or selects them by their labels', () => {
  const facts: SceneFacts = {
    ...stage({ a: [labelled('x', undefined, 'other')] }),
    namespaces: [{ metadata: { name: 'other', labels: { team: 'db' } } }, { metadata: { name: 'default' } }],
  };
  const refused = (more: object) => {
    const terms = term(hostname).map((each) => ({ ...each, ...more }));
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    return Object.keys(refusals(labelled('y', affinity), facts));
  };
  assert.deepEqual(refused({}), []);
  assert.deepEqual(refused({ namespaces: ['other'] }), ['a']);
  assert.deepEqual(refused({ namespaceSelector: { matchLabels: { team: 'db' } } }), ['a']);
  assert.deepEqual(refused({ namespaceSelector: { matchLabels: { team: 'web' } } }), []);
  assert.deepEqual(refused({ namespaceSelector: {} }), ['a']);
});

test('S4: what a pod would rather have near or away, and what others would, is weighed', () => {
  const preferring = (kind: 'podAffinity' | 'podAntiAffinity', topologyKey: string) => {
    const preferred = [{ weight: 10, podAffinityTerm: { ...term(topologyKey)[0], topologyKey } }];
    return { [kind]: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
  };
  const scored = (affinity: PodSpec['affinity'], placed: SceneFacts['placed']) =>
    points(interPodAffinity, labelled('p', affinity), stage(placed));
  assert.deepEqual(scored(preferring('podAffinity', 'zone'), { c: [labelled('x')] }), { a: 0, b: 0, c: 100 });
  assert.deepEqual(scored(preferring('podAntiAffinity', hostname), { c: [labelled('x')] }), { a: 100, b: 100, c: 0 });
  assert.deepEqual(scored(undefined, { a: [labelled('x', preferring('podAffinity', 'zone'))] }), {
    a: 100,
    b: 100,
    c: 0,
  });
  assert.equal(scored(undefined, { a: [labelled('x')] }), undefined);
});
