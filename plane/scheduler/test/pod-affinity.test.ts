import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '@castellan/machinery';
import { chooseNode } from '../src/choose-node.js';
import { viewNode } from '../src/cluster-view.js';
import { filter } from '../src/filter.js';
import { node, pod } from './objects.js';

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

function views(placed: Readonly<Record<string, readonly Pod[]>>) {
  return hosts.map((host) => viewNode(host, placed[host.metadata.name ?? ''] ?? []));
}

test('S2: members that must be apart go to one host each, and the next one waits and is told why', () => {
  const placed: Record<string, Pod[]> = {};
  for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) {
    const member = labelled(name, away(hostname));
    const choice = chooseNode(member, views(placed));
    assert.equal(choice.kind, 'node');
    if (choice.kind === 'node') placed[choice.nodeName] = [member];
  }
  assert.deepEqual(Object.keys(placed).sort(), ['a', 'b', 'c']);
  assert.deepEqual(chooseNode(labelled('etcd-3', away(hostname)), views(placed)), {
    kind: 'none',
    message: "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.",
  });
});

test('S2: a whole zone is out of bounds when the term names zones, and a node without a zone is not', () => {
  const all = [...views({ a: [labelled('x')] }), viewNode(node('nowhere'), [])];
  const allowed = all.filter((view) => filter(labelled('y', away('zone')), view, all).length === 0);
  assert.deepEqual(
    allowed.map((view) => view.node.metadata.name),
    ['c', 'nowhere'],
  );
});

test('S2: pods that are there already keep others away by their own rules', () => {
  const all = views({ a: [labelled('hermit', away(hostname))] });
  const [first] = all;
  assert.ok(first !== undefined);
  assert.deepEqual(filter(labelled('y'), first, all), ["node(s) didn't satisfy existing pods anti-affinity rules"]);
});

test('S2: a pod is placed near those it must be near; the first of such a group may go anywhere', () => {
  const all = views({ c: [labelled('x')] });
  const allowed = all.filter((view) => filter(labelled('y', near('zone')), view, all).length === 0);
  assert.deepEqual(
    allowed.map((view) => view.node.metadata.name),
    ['c'],
  );
  assert.equal(chooseNode(labelled('first', near('zone')), views({})).kind, 'node');
  const stranger = {
    ...labelled('stranger', near('zone')),
    metadata: { namespace: 'default', name: 'stranger', labels: {} },
  };
  assert.deepEqual(chooseNode(stranger, views({})), {
    kind: 'none',
    message: "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.",
  });
});

test('S2: a term speaks of its own namespace, unless it names others', () => {
  const all = views({ a: [labelled('x', undefined, 'other')] });
  const [first] = all;
  assert.ok(first !== undefined);
  assert.deepEqual(filter(labelled('y', away(hostname)), first, all), []);
  const [named] = term(hostname);
  assert.ok(named !== undefined);
  const terms = [{ ...named, namespaces: ['other'] }];
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  assert.equal(filter(labelled('y', affinity), first, all).length, 1);
});
