import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '@castellan/machinery';
import { resolverFile } from './resolver-file.js';

const machineFile =
  '# by hand\nsearch old.example\nsearch example.com .\nnameserver 192.0.2.1\noptions edns0 timeout:1\n';

function fileOf(spec: Partial<PodSpec>): readonly string[] {
  const pod = { metadata: { namespace: 'shop', name: 'web' }, spec: { containers: [], ...spec } };
  const options = { clusterDomain: 'cluster.local', nameServer: '10.244.0.1', machineFile };
  return resolverFile(pod, options).trimEnd().split('\n');
}

const cluster = [
  'search shop.svc.cluster.local svc.cluster.local cluster.local example.com',
  'nameserver 10.244.0.1',
  'options ndots:5',
];
const machine = ['search example.com', 'nameserver 192.0.2.1', 'options edns0 timeout:1'];

test('N31 the name server of a pod follows from its dnsPolicy', () => {
  assert.deepEqual(fileOf({}), cluster);
  assert.deepEqual(fileOf({ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }), cluster);
  assert.deepEqual(fileOf({ dnsPolicy: 'ClusterFirst', hostNetwork: true }), machine);
  assert.deepEqual(fileOf({ dnsPolicy: 'Default' }), machine);
});

test('N31 dnsConfig adds to every policy, and its options replace those of the same name', () => {
  const dnsConfig = {
    nameservers: ['192.0.2.9', '192.0.2.1'],
    searches: ['own.example', 'example.com'],
    options: [{ name: 'ndots', value: '2' }, { name: 'rotate' }, { name: 'timeout', value: '3' }],
  };
  assert.deepEqual(fileOf({ dnsPolicy: 'None', dnsConfig }), [
    'search own.example example.com',
    'nameserver 192.0.2.9',
    'nameserver 192.0.2.1',
    'options ndots:2 rotate timeout:3',
  ]);
  assert.deepEqual(fileOf({ dnsConfig }), [
    'search shop.svc.cluster.local svc.cluster.local cluster.local example.com own.example',
    'nameserver 10.244.0.1',
    'nameserver 192.0.2.9',
    'nameserver 192.0.2.1',
    'options ndots:2 rotate timeout:3',
  ]);
  assert.equal(fileOf({ dnsPolicy: 'Default', dnsConfig }).at(-1), 'options edns0 ndots:2 rotate timeout:3');
});

test('N31 what C libraries do not read is left out', () => {
  const many = Array.from({ length: 40 }, (_, n) => `${n}.example`);
  const [search = '', ...servers] = fileOf({ dnsPolicy: 'None', dnsConfig: { nameservers: many, searches: many } });
  assert.equal(search.split(' ').length, 33);
  assert.equal(servers.length, 3);
  const long = Array.from({ length: 20 }, (_, n) => `${n}.${'x'.repeat(200)}`);
  assert.equal(fileOf({ dnsPolicy: 'None', dnsConfig: { searches: long } })[0]?.split(' ').length, 11);
});
