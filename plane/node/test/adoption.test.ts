import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Pod, pods } from '@castellan/machinery';
import { powerOff } from '../src/agent/power-off.js';
import { removeEverything } from '../src/index.js';
import { requireCommand } from '../src/sandbox/command.js';
import { ContainerProcess } from '../src/sandbox/container-process.js';
import { ensurePlaneNetwork } from '../src/sandbox/plane-network.js';
import { createPodNetwork, leftNamespaces, podNetworkAt } from '../src/sandbox/pod-network.js';
import { isReady, mainStatus, openGate, shellPod, startAgent, waitAtGate } from './agent-under-test.js';
import { cannotRunPods, leftovers, rangesOf, until, withDataDirectory } from './machine.js';
import { SimulatedCluster } from './simulated-cluster.js';

const skip = cannotRunPods();

const gated = `echo up; ${waitAtGate}`;

/** An agent in a process of its own runs these pods until they are ready, then is killed with SIGKILL. */
async function killedAgent(directory: string, given: readonly Pod[]): Promise<SimulatedCluster> {
  const support = new URL('./agent-under-test.js', import.meta.url).href;
  const script = join(directory, 'agent.mjs');
  const result = join(directory, 'pods-then.json');
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs';
     import { pods } from ${JSON.stringify(import.meta.resolve('@castellan/machinery'))};
     import { isReady, startAgent } from ${JSON.stringify(support)};
     const { cluster, podThat } = await startAgent(${JSON.stringify(directory)});
     const then = [];
     for (const pod of ${JSON.stringify(given)}) {
       await cluster.create(pods, pod);
       then.push(await podThat(pod.metadata.name, 'to be ready', isReady));
     }
     writeFileSync(${JSON.stringify(result)}, JSON.stringify(then));
     process.kill(process.pid, 'SIGKILL');`,
  );
  const killedBy = await new Promise((resolve) => {
    spawn(process.execPath, [script], { stdio: 'inherit' }).once('exit', (_code, signal) => resolve(signal));
  });
  assert.equal(killedBy, 'SIGKILL');
  const then: readonly Pod[] = JSON.parse(readFileSync(result, 'utf8'));
  return new SimulatedCluster(then.map((object) => ({ type: pods, object })));
}

test('N2 after the kill of the agent its pods run on, ready, and the next agent sees them end', { skip }, () =>
  withDataDirectory(async (directory) => {
    const readinessProbe = { exec: { command: ['test', '-p', '/tmp/gate'] }, periodSeconds: 1 };
    const cluster = await killedAgent(directory, [
      shellPod('a', gated, { restartPolicy: 'Never', main: { readinessProbe } }),
    ]);
    const before = await cluster.get(pods, { namespace: 'default', name: 'a' });
    const seen: boolean[] = [];
    const agent = await startAgent(directory, { cluster });
    const watching = new AbortController();
    const watched = (async () => {
      for await (const event of cluster.watch<Pod>(pods, { signal: watching.signal })) {
        if (event.type === 'MODIFIED' && mainStatus(event.object).state?.running !== undefined)
          seen.push(isReady(event.object));
      }
    })();
    try {
      await agent.logIs('a', 'up\n');
      const now = await agent.podThat('a', 'to be ready', isReady);
      assert.equal(mainStatus(now).containerID, mainStatus(before).containerID);
      assert.equal(mainStatus(now).restartCount, 0);
      assert.deepEqual(mainStatus(now).state, mainStatus(before).state);
      await openGate(directory, now, 6);
      const ended = await agent.podThat('a', 'to have failed', ({ status }) => status?.phase === 'Failed');
      assert.equal(mainStatus(ended).state?.terminated?.exitCode, 6);
      assert.ok(!seen.includes(false), 'it was never shown as unready while it ran');
    } finally {
      watching.abort();
      await watched;
      await agent.stop('stop');
    }
  }),
);

test('N2 probes reach an adopted container at its address', { skip }, () =>
  withDataDirectory(async (directory) => {
    const server = `exec perl -MIO::Socket::INET -e '
$| = 1;
my $server = IO::Socket::INET->new(LocalPort => 8080, Listen => 5, ReuseAddr => 1);
while (my $client = $server->accept) { close $client; print "probed\\n" }'`;
    const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 1 };
    const cluster = await killedAgent(directory, [shellPod('a', server, { main: { readinessProbe } })]);
    const before = await cluster.get(pods, { namespace: 'default', name: 'a' });
    const log = join(directory, 'pods', before.metadata.uid ?? '', 'containers/main/0/output/stdout');
    const count = () => readFileSync(log, 'utf8').split('\n').length;
    const atFirst = count();
    const agent = await startAgent(directory, { cluster });
    try {
      await until('two more probes', () => count() >= atFirst + 2);
      assert.equal(isReady((await agent.pod('a')) ?? before), true);
      const unhealthy = (await agent.eventsOf('a')).filter((text) => text.startsWith('Unhealthy'));
      assert.deepEqual(unhealthy, []);
    } finally {
      await agent.stop('stop');
    }
  }),
);

test('N2 an exit while no agent runs is shown by the next one, with its code', { skip }, () =>
  withDataDirectory(async (directory) => {
    const cluster = await killedAgent(directory, [shellPod('a', gated, { restartPolicy: 'Never' })]);
    const before = await cluster.get(pods, { namespace: 'default', name: 'a' });
    const run = join(directory, 'pods', before.metadata.uid ?? '', 'containers/main/0');
    const [namespace] = await leftNamespaces(directory);
    const container = ContainerProcess.adopt(run, namespace?.namespace ?? '');
    await until('the gate', () => readFileSync(join(run, 'output/stdout'), 'utf8') === 'up\n');
    await openGate(directory, before, 4);
    await until('the exit', () => container.state().kind === 'exited');
    const agent = await startAgent(directory, { cluster });
    try {
      const ended = await agent.podThat('a', 'to have failed', ({ status }) => status?.phase === 'Failed');
      assert.equal(mainStatus(ended).state?.terminated?.exitCode, 4);
    } finally {
      await agent.stop('stop');
    }
  }),
);

test('N12 a pod that was deleted while no agent ran ends when the next one starts', { skip }, () =>
  withDataDirectory(async (directory) => {
    const cluster = await killedAgent(directory, [shellPod('a', gated), shellPod('b', gated)]);
    await cluster.delete(pods, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 });
    const kept = await cluster.get(pods, { namespace: 'default', name: 'b' });
    const agent = await startAgent(directory, { cluster });
    try {
      await until('the orphan to be gone', async () => {
        const left = await leftovers(directory);
        return left.filter((line) => line.startsWith('namespace')).length === 1;
      });
      const now = await agent.podThat('b', 'to be ready', isReady);
      assert.equal(mainStatus(now).containerID, mainStatus(kept).containerID);
    } finally {
      await agent.stop('stop');
    }
  }),
);

test(
  'N3 after a restart of the machine pods start again from their volumes, and process numbers mean nothing',
  { skip },
  () =>
    withDataDirectory(async (directory) => {
      const volume = { volumes: [{ name: 'data', emptyDir: {} }] };
      const main = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
      const script = `echo x >>/data/starts; wc -l </data/starts; ${waitAtGate}`;
      const cluster = await killedAgent(directory, [shellPod('a', script, { ...volume, main })]);
      const before = await cluster.get(pods, { namespace: 'default', name: 'a' });
      await powerOff(directory, 'node-a');
      const state = join(directory, 'pods', before.metadata.uid ?? '', 'containers/main/0/state');
      assert.equal(existsSync(join(state, 'exit')), false, 'nobody has written down how it ended');
      writeFileSync(join(state, 'boot'), 'the boot before');
      // The number that the supervisor had is this process's now.
      writeFileSync(join(state, 'process'), readFileSync('/proc/self/stat'));
      const agent = await startAgent(directory, { cluster });
      try {
        const isAgain = (pod: Pod) => isReady(pod) && mainStatus(pod).restartCount === 1;
        const after = await agent.podThat('a', 'to run again', isAgain);
        assert.equal(after.status?.podIP, before.status?.podIP);
        const { exitCode, reason } = mainStatus(after).lastState?.terminated ?? {};
        assert.deepEqual([exitCode, reason], [137, 'ContainerStatusUnknown']);
        await agent.logIs('a', '2\n');
        await agent.logIs('a', '1\n', { previous: true });
      } finally {
        await agent.stop('stop');
      }
    }),
);

test(
  'N8 N3 what the plane stopped goes on at its next start: same address, same volume, whatever its policy',
  { skip },
  () =>
    withDataDirectory(async (directory) => {
      const cluster = new SimulatedCluster();
      const first = await startAgent(directory, { cluster });
      const volume = { volumes: [{ name: 'data', emptyDir: {} }] };
      const main = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
      const script = 'echo x >>/data/starts; wc -l </data/starts; trap "exit 0" TERM; while :; do sleep 0.02; done';
      await cluster.create(pods, shellPod('a', script, { restartPolicy: 'Never', ...volume, main }));
      const before = await first.podThat('a', 'to be ready', isReady);
      await first.logIs('a', '1\n');
      await first.stop('stop');
      assert.deepEqual(await leftovers(directory), [], 'nothing of it is on the machine while it is stopped');
      const second = await startAgent(directory, { cluster });
      try {
        const after = await second.podThat(
          'a',
          'to run again',
          (pod) => isReady(pod) && mainStatus(pod).restartCount === 1,
        );
        assert.equal(after.status?.podIP, before.status?.podIP);
        await second.logIs('a', '2\n');
      } finally {
        await second.stop('stop');
      }
    }),
);

test('N8 what `removeEverything` ended goes on at the next start as well', { skip }, () =>
  withDataDirectory(async (directory) => {
    const cluster = await killedAgent(directory, [shellPod('a', gated, { restartPolicy: 'Never' })]);
    await removeEverything(directory);
    assert.deepEqual(await leftovers(directory), []);
    const agent = await startAgent(directory, { cluster });
    try {
      await agent.podThat('a', 'to run again', (pod) => isReady(pod) && mainStatus(pod).restartCount === 1);
    } finally {
      await agent.stop('stop');
    }
  }),
);

test('N1 networks that no record names, whole or cut off half-way, are removed at the start', { skip }, () =>
  withDataDirectory(async (directory) => {
    const plane = await ensurePlaneNetwork({ dataDirectory: directory, podCidr: rangesOf(directory).podCidr });
    // As an agent leaves it that is killed right after its first step: no address, no device, no record.
    await requireCommand('ip', ['netns', 'add', podNetworkAt(plane, 2).namespace]);
    await createPodNetwork(plane, podNetworkAt(plane, 3));
    const agent = await startAgent(directory);
    try {
      await agent.cluster.create(pods, shellPod('a', 'sleep 1000'));
      await agent.cluster.create(pods, shellPod('b', 'sleep 1000'));
      await agent.podThat('a', 'to be ready', isReady);
      await agent.podThat('b', 'to be ready', isReady);
    } finally {
      await agent.stop('stop');
    }
    assert.deepEqual(await leftovers(directory), []);
  }),
);
