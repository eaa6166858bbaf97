import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Container, type PodSpec, pods } from '@castellan/machinery';
import { mainStatus, shellPod, withAgent } from './agent-under-test.js';
import { cannotRunPods, until } from './machine.js';

const skip = cannotRunPods();

test(
  'N46 a container has the user, groups, capabilities, system calls and root that it asks for, and a command in it has them too',
  { skip },
  withAgent(async ({ cluster, podThat, logIs, agent }) => {
    const look = 'id -u; id -g; id -G; grep CapEff /proc/self/status';
    const run = async (name: string, script: string, spec: Partial<PodSpec>, main: Partial<Container>) => {
      await cluster.create(pods, shellPod(name, `${script}; exec sleep 600`, { ...spec, main }));
      await podThat(name, 'to run', (pod) => mainStatus(pod).state?.running !== undefined);
    };
    const none = 'CapEff:\t0000000000000000\n';
    const drop = { drop: ['ALL'] };
    const securityContext = { runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000 };
    await run('user', look, { securityContext }, { securityContext: { capabilities: drop } });
    await logIs('user', `1000\n2000\n2000 3000\n${none}`);
    const added = { securityContext: { capabilities: { ...drop, add: ['CHOWN'] } } };
    await run('root', look, { securityContext: { supplementalGroups: [7] } }, added);
    await logIs('root', '0\n0\n0 7\nCapEff:\t0000000000000001\n');
    const request = { namespace: 'default', pod: 'root', container: 'main', stdin: false, tty: false };
    const process = await agent.execute({ ...request, command: ['sh', '-c', look] }, AbortSignal.timeout(30_000));
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdout) chunks.push(Buffer.from(chunk));
    assert.equal(Buffer.concat(chunks).toString('utf8'), '0\n0\n0 7\nCapEff:\t0000000000000001\n');
    const filtered = { securityContext: { seccompProfile: { type: 'RuntimeDefault' }, readOnlyRootFilesystem: true } };
    await run('calls', 'exec 2>&1; unshare --user true; grep Seccomp: /proc/self/status; touch /x', {}, filtered);
    const refusals =
      "unshare: unshare failed: Operation not permitted\nSeccomp:\t2\ntouch: cannot touch '/x': Read-only file system\n";
    await logIs('calls', refusals);
    const sysctls = [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '1' }];
    await run('sysctl', 'cat /proc/sys/net/ipv4/ip_unprivileged_port_start', { securityContext: { sysctls } }, {});
    await logIs('sysctl', '1\n');
  }),
);

test(
  'N46 what is refused is one event: a pod that would leave its sandbox waits, one with a sysctl of the machine fails',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }) => {
    await cluster.create(pods, shellPod('host', 'true', { hostNetwork: true }));
    const sysctls = [{ name: 'kernel.msgmax', value: '1' }];
    await cluster.create(pods, shellPod('sysctl', 'true', { securityContext: { sysctls } }));
    await cluster.create(pods, shellPod('root', 'true', { securityContext: { runAsNonRoot: true } }));
    const refusal =
      'Failed to create pod sandbox: hostNetwork is not offered by this node: every pod has a network of its own';
    const host = await podThat('host', 'to be refused', (pod) => mainStatus(pod).state?.waiting?.message !== undefined);
    assert.equal(mainStatus(host).state?.waiting?.message, refusal);
    await until('the event', async () => (await eventsOf('host')).includes(`FailedCreatePodSandBox ${refusal}`));
    const { status } = await podThat('sysctl', 'to fail', (pod) => pod.status?.phase === 'Failed');
    assert.equal(status?.reason, 'SysctlForbidden');
    const isRoot = /^Failed Error: container has runAsNonRoot and image will run as root/;
    await until('the event', async () => (await eventsOf('root')).some((text) => isRoot.test(text)));
    await podThat('root', 'to wait', (pod) => mainStatus(pod).state?.waiting?.reason === 'CreateContainerConfigError');
  }),
);
