import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '@castellan/machinery';
import { outOfMemoryScore, resourceLimits } from './container-resources.js';
import { qosClass } from './qos-class.js';

function podOf(...containers: readonly Container['resources'][]): { readonly pod: Pod; readonly main: Container } {
  const [first, ...others] = containers;
  const main: Container = { name: 'main', ...(first === undefined ? {} : { resources: first }) };
  const rest = others.map((resources, index) => ({
    name: `c${index}`,
    ...(resources === undefined ? {} : { resources }),
  }));
  return { pod: { metadata: {}, spec: { containers: [main, ...rest] } }, main };
}

test('N44 requests and limits become shares, a quota and bytes; who asks for nothing gets the least', () => {
  const { pod, main } = podOf(
    { requests: { cpu: '250m' }, limits: { cpu: '1500m', memory: '64Mi' } },
    { limits: { cpu: '1' } },
    undefined,
  );
  assert.deepEqual(resourceLimits(pod, main), {
    memoryBytes: 67_108_864,
    cpuMillis: 1_500,
    shares: { container: 256, pod: 1_280 },
    podPids: 2_048,
  });
  const none = podOf(undefined);
  assert.deepEqual(resourceLimits(none.pod, none.main), { shares: { container: 2, pod: 2 }, podPids: 2_048 });
});

test('N44 what asked for nothing is killed first when the machine has no memory left', () => {
  const guaranteed = podOf({ limits: { cpu: '1', memory: '1Gi' } });
  const burstable = podOf({ requests: { memory: '1' } });
  const bestEffort = podOf(undefined);
  const scores = [guaranteed, burstable, bestEffort].map(({ pod, main }) => [
    qosClass(pod),
    outOfMemoryScore(pod, main),
  ]);
  assert.deepEqual(scores, [
    ['Guaranteed', 0],
    ['Burstable', 999],
    ['BestEffort', 1_000],
  ]);
});
