import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRange } from '../sandbox/address-range.js';
import { DatagramZones } from './datagram-zones.js';
import type { Frontend } from './frontend.js';
import { serviceRules } from './service-rules.js';

const nodes = [
  { name: 'one', address: '10.244.0.1', podRange: parseRange('10.244.0.0/24') },
  { name: 'two', address: '10.244.1.1', podRange: parseRange('10.244.1.0/24') },
];
const [a, b] = [
  { address: '10.244.0.2', port: 8080, hostname: undefined, node: 'one', isEnding: false },
  { address: '10.244.1.2', port: 8080, hostname: undefined, node: 'two', isEnding: false },
] as const;

function frontend(rest: Partial<Frontend>): Frontend {
  const at = { of: { kind: 'Service', name: 'web' } as const, protocol: 'TCP', address: '10.96.0.7', port: 80 };
  return { ...at, backends: [a, b], affinityMs: undefined, staysOnNode: false, ...rest };
}

function chainsOf(...frontends: readonly Frontend[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(serviceRules(frontends, { zones: new Map(), nodes }).chains);
}

test('N17 one backend is an exchange of addresses, several take turns, none is no rule', () => {
  assert.deepEqual(chainsOf(frontend({ backends: [a] })), {
    'tcp/10.96.0.7/80': ['meta l4proto tcp dnat to 10.244.0.2:8080'],
  });
  assert.deepEqual(chainsOf(frontend({ protocol: 'UDP' })), {
    'udp/10.96.0.7/80': [
      'meta l4proto udp dnat ip to numgen inc mod 2 map { 0 : 10.244.0.2 . 8080, 1 : 10.244.1.2 . 8080 }',
    ],
  });
  assert.deepEqual(chainsOf(frontend({ backends: [] })), {});
});

test('N25 with session affinity a client goes where it was, and else has its turn', () => {
  const { sets, chains } = serviceRules([frontend({ affinityMs: 5_000 })], { zones: new Map(), nodes });
  assert.deepEqual([...sets.keys()], ['tcp/10.96.0.7/80/10.244.0.2/8080', 'tcp/10.96.0.7/80/10.244.1.2/8080']);
  assert.equal(
    sets.get('tcp/10.96.0.7/80/10.244.0.2/8080')?.declaration,
    'type ipv4_addr; flags dynamic,timeout; timeout 5s;',
  );
  assert.deepEqual(chains.get('tcp/10.96.0.7/80'), [
    'ip saddr @tcp/10.96.0.7/80/10.244.0.2/8080 goto tcp/10.96.0.7/80/10.244.0.2/8080',
    'ip saddr @tcp/10.96.0.7/80/10.244.1.2/8080 goto tcp/10.96.0.7/80/10.244.1.2/8080',
    'numgen inc mod 2 vmap { 0 : goto tcp/10.96.0.7/80/10.244.0.2/8080, 1 : goto tcp/10.96.0.7/80/10.244.1.2/8080 }',
  ]);
});

test('N26 with internalTrafficPolicy Local each node has a rule of its own, and one without backends has none', () => {
  assert.deepEqual(chainsOf(frontend({ staysOnNode: true, backends: [a] }))['tcp/10.96.0.7/80'], [
    'ip saddr { 10.244.0.1, 10.244.1.1 } meta l4proto tcp dnat to 10.244.0.2:8080',
    'ip saddr 10.244.0.0/24 meta l4proto tcp dnat to 10.244.0.2:8080',
  ]);
});

test('N24 a UDP frontend has another zone when a backend has left, and not when one has come', () => {
  const zones = new DatagramZones(1_000_000);
  const udp = (backends: Frontend['backends']) => frontend({ protocol: 'UDP', backends });
  const zoneOf = (backends: Frontend['backends']) => zones.next([udp(backends), frontend({})]).get('udp/10.96.0.7/80');
  assert.equal(zoneOf([a]), 1_002);
  assert.equal(zoneOf([a, b]), 1_002);
  assert.equal(zoneOf([b]), 1_003);
  assert.equal(zoneOf([]), 1_004);
});
