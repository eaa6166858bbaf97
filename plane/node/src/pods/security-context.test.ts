import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodSpec } from '@castellan/machinery';
import { checkSecurity, containerUser, podRefusal } from './security-context.js';
import { sysctlFailure } from './sysctls.js';

function podWith(spec: Partial<PodSpec>, own: Container['securityContext'] = {}): { pod: Pod; main: Container } {
  const main: Container = { name: 'main', securityContext: own };
  return { pod: { metadata: { name: 'a', namespace: 'n', uid: 'u' }, spec: { containers: [main], ...spec } }, main };
}

test('N46 a container’s user, group and capabilities come before its pod’s', () => {
  const securityContext = { runAsUser: 1, runAsGroup: 2, supplementalGroups: [3], fsGroup: 4 };
  const { pod, main } = podWith(
    { securityContext },
    { runAsUser: 5, capabilities: { drop: ['ALL'], add: ['NET_RAW'] } },
  );
  assert.deepEqual(containerUser(pod, main), { user: 5, group: 2, groups: [3, 4], capabilities: ['CAP_NET_RAW'] });
  const other = podWith({}, { capabilities: { add: ['SYS_TIME'], drop: ['CAP_KILL', 'chown'] } });
  const { capabilities } = containerUser(other.pod, other.main);
  const has = (name: string) => capabilities.includes(name);
  assert.deepEqual(['CAP_SYS_TIME', 'CAP_KILL', 'CAP_CHOWN', 'CAP_SETUID'].map(has), [true, false, false, true]);
  const unknown = podWith({}, { capabilities: { add: ['FLY'] } });
  assert.throws(() => containerUser(unknown.pod, unknown.main), /^Error: unknown capability "FLY"$/);
});

test('N46 runAsNonRoot is told in kubelet’s words', () => {
  const problemOf = (own: Container['securityContext']) => {
    const { pod, main } = podWith({ securityContext: { runAsNonRoot: true } }, own);
    try {
      checkSecurity(pod, main);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : undefined;
    }
  };
  const place = '(pod: "a_n(u)", container: main)';
  assert.equal(problemOf({}), `container has runAsNonRoot and image will run as root ${place}`);
  assert.equal(problemOf({ runAsUser: 0 }), `container's runAsUser breaks non-root policy ${place}`);
  assert.equal(problemOf({ runAsUser: 1000 }), undefined);
  assert.equal(problemOf({ runAsNonRoot: false }), undefined);
  assert.match(problemOf({ privileged: true }) ?? '', /^privileged: true is not offered by this node/);
});

test('N46 what would reach out of the pod is refused, one thing at a time', () => {
  const refusalOf = (spec: object) => podRefusal(podWith(spec).pod)?.split(' is not offered')[0];
  const asked = [{ hostNetwork: true }, { hostPID: true }, { hostIPC: true }];
  assert.deepEqual(asked.map(refusalOf), ['hostNetwork', 'hostPID', 'hostIPC']);
  assert.deepEqual([{ hostUsers: false }, { hostUsers: true }, {}].map(refusalOf), [
    'hostUsers: false',
    undefined,
    undefined,
  ]);
});

test('N46 a sysctl of the whole machine fails its pod', () => {
  const failureOf = (name: string) =>
    sysctlFailure(podWith({ securityContext: { sysctls: [{ name, value: '1' }] } }).pod);
  assert.deepEqual(failureOf('kernel.msgmax'), {
    reason: 'SysctlForbidden',
    message: 'forbidden sysctl: "kernel.msgmax" not allowlisted',
  });
  assert.equal(failureOf('net/ipv4/tcp_syncookies'), undefined);
});
