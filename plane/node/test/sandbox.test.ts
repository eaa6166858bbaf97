import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeEverything } from '../src/agent/remove-everything.js';
import { createCgroup, detectCgroups, wasOutOfMemory } from '../src/sandbox/cgroups.js';
import { requireCommand } from '../src/sandbox/command.js';
import { ContainerProcess } from '../src/sandbox/container-process.js';
import type { ContainerUser } from '../src/sandbox/container-user.js';
import { runInContainer } from '../src/sandbox/enter-container.js';
import { bridgeName, ensurePlaneNetwork } from '../src/sandbox/plane-network.js';
import { createPodNetwork, podNetworkAt, removePodNetwork } from '../src/sandbox/pod-network.js';
import { cannotRunPods, rangesOf, until, withDataDirectory } from './machine.js';

const skip = cannotRunPods();

interface Shell {
  readonly directory: string;
  readonly namespace: string;
  readonly script: string;
  readonly cgroups?: readonly string[];
  readonly user?: ContainerUser;
}

function startShell({ directory, namespace, script, cgroups = [], user }: Shell): Promise<ContainerProcess> {
  return ContainerProcess.start({
    directory,
    networkNamespace: namespace,
    hostname: 'pod-a',
    command: ['/bin/sh', '-c', script],
    environment: { PATH: '/usr/bin:/bin', COLOUR: 'blue' },
    workingDirectory: '/',
    root: { files: [{ path: '/etc/hosts', content: '127.0.0.1 localhost\n' }], mounts: [], isReadOnly: false },
    cgroups,
    hasInput: false,
    ...(user === undefined ? {} : { user }),
  });
}

async function exitOf(container: ContainerProcess) {
  return await until('the container to exit', () => {
    const state = container.state();
    return state.kind === 'exited' && state;
  });
}

async function network(directory: string, index = 2) {
  const plane = await ensurePlaneNetwork({ dataDirectory: directory, podCidr: rangesOf(directory).podCidr });
  const pod = podNetworkAt(plane, index);
  await createPodNetwork(plane, pod);
  return { plane, pod };
}

test('a container has its own address, host name, processes and environment, and few capabilities', { skip }, () =>
  withDataDirectory(async (directory) => {
    const { pod } = await network(directory);
    const container = await startShell({
      directory: join(directory, 'pods/u/containers/a/0'),
      namespace: pod.namespace,
      script:
        'ip -o -4 address show dev eth0; hostname; echo $$ $COLOUR $HOME; grep CapEff /proc/self/status; touch /usr/x; echo fine >/tmp/x && cat /tmp/x; exit 3',
    });
    assert.equal((await exitOf(container)).exitCode, 3);
    const log = readFileSync(join(container.directory, 'output/stdout'), 'utf8');
    assert.match(log, new RegExp(`inet ${pod.address}/24`));
    assert.match(log, /^pod-a$/m);
    assert.match(log, /^2 blue$/m);
    assert.match(log, /CapEff:\t00000000a80425fb/);
    assert.match(readFileSync(join(container.directory, 'output/stderr'), 'utf8'), /\/usr\/x.*Read-only/);
    assert.match(log, /^fine$/m);
  }),
);

test('a container runs as the user that it asks for, without capabilities', { skip }, () =>
  withDataDirectory(async (directory) => {
    const { pod } = await network(directory);
    const container = await startShell({
      directory: join(directory, 'a'),
      namespace: pod.namespace,
      script: 'id -u; id -g; grep CapEff /proc/self/status',
      user: { user: 1000, group: 2000, groups: [], capabilities: [] },
    });
    assert.equal((await exitOf(container)).exitCode, 0);
    assert.match(
      readFileSync(join(container.directory, 'output/stdout'), 'utf8'),
      /^1000\n2000\nCapEff:\t0000000000000000\n$/,
    );
  }),
);

test('SIGTERM reaches the program itself, and a kill takes what it left behind', { skip }, () =>
  withDataDirectory(async (directory) => {
    const { pod } = await network(directory);
    const polite = await startShell({
      directory: join(directory, 'polite'),
      namespace: pod.namespace,
      script: 'trap "echo bye; exit 7" TERM; echo up; while :; do sleep 0.05; done',
    });
    await until('the program to be up', () =>
      readFileSync(join(polite.directory, 'output/stdout'), 'utf8').includes('up'),
    );
    assert.equal(polite.terminate(), true);
    assert.equal((await exitOf(polite)).exitCode, 7);
    const stubborn = await startShell({
      directory: join(directory, 'stubborn'),
      namespace: pod.namespace,
      script: 'trap "" TERM; sleep 1000 & echo up; wait',
    });
    await until('the program to be up', () =>
      readFileSync(join(stubborn.directory, 'output/stdout'), 'utf8').includes('up'),
    );
    stubborn.terminate();
    stubborn.kill();
    assert.equal((await exitOf(stubborn)).exitCode, 137);
  }),
);

test('a command runs inside a running container and sees its processes', { skip }, () =>
  withDataDirectory(async (directory) => {
    const { pod } = await network(directory);
    const container = await startShell({
      directory: join(directory, 'a'),
      namespace: pod.namespace,
      script: 'sleep 1000',
    });
    await until('the program to be up', () => container.mainProcess());
    const entry = {
      command: [
        '/bin/sh',
        '-c',
        'hostname; echo $COLOUR; for f in /proc/[0-9]*/cmdline; do tr "\\0" " " <$f; echo; done; exit 4',
      ],
      deadlineMs: 30_000,
    };
    const result = await runInContainer(container, entry);
    assert.equal(result.exitCode, 4, result.stderr);
    assert.match(result.stdout, /^pod-a\nblue\n/);
    assert.match(result.stdout, /^(\/bin\/sh -c )?sleep 1000 $/m);
    const late = await runInContainer(container, { ...entry, command: ['/bin/sleep', '100'], deadlineMs: 100 });
    assert.equal(late.timedOut, true);
  }),
);

test('a container over its memory limit is killed, and it shows why', { skip }, (context) =>
  withDataDirectory(async (directory) => {
    const layout = detectCgroups(bridgeName(directory));
    if (layout.kind === 'none') return context.skip(`no control groups: ${layout.why}`);
    const { pod } = await network(directory);
    const group = { plane: bridgeName(directory), pod: 'pod', container: 'hungry' };
    const shares = { container: 512, pod: 512 };
    const limits = { memoryBytes: 32 * 1024 * 1024, cpuMillis: 500, shares, podPids: 100 };
    const cgroups = createCgroup(layout, group, limits);
    const container = await startShell({
      directory: join(directory, 'hungry'),
      namespace: pod.namespace,
      script: 'head -c 200000000 /dev/zero | tail >/dev/null; exit $?',
      cgroups,
    });
    assert.notEqual((await exitOf(container)).exitCode, 0);
    assert.equal(wasOutOfMemory(cgroups), true);
  }),
);

test('a program that cannot be started shows as an exit with the reason in its log', { skip }, () =>
  withDataDirectory(async (directory) => {
    const { pod } = await network(directory);
    const container = await ContainerProcess.start({
      directory: join(directory, 'a'),
      networkNamespace: pod.namespace,
      hostname: 'pod-a',
      command: ['/no/such/program'],
      environment: {},
      workingDirectory: '/',
      root: { files: [], mounts: [], isReadOnly: false },
      cgroups: [],
      hasInput: false,
    });
    assert.equal((await exitOf(container)).exitCode, 1);
    assert.match(
      readFileSync(join(container.directory, 'output/stderr'), 'utf8'),
      /bwrap: execvp \/no\/such\/program: No such file/,
    );
  }),
);

test('two planes on one machine get ranges that do not overlap, and keep them', { skip }, () =>
  withDataDirectory((first) =>
    withDataDirectory(async (second) => {
      const options = { podCidr: rangesOf(first).podCidr };
      const a = await ensurePlaneNetwork({ dataDirectory: first, ...options });
      const b = await ensurePlaneNetwork({ dataDirectory: second, ...options });
      assert.equal(a.gateway, options.podCidr.replace('0/24', '1'));
      assert.notEqual(a.gateway, b.gateway);
      assert.notEqual(a.bridge, b.bridge);
      assert.equal((await ensurePlaneNetwork({ dataDirectory: second, ...options })).gateway, b.gateway);
    }),
  ),
);

test('a stopped plane whose range was taken meanwhile says so, and is not mixed up with the other', { skip }, () =>
  withDataDirectory((first) =>
    withDataDirectory(async (second) => {
      const options = { podCidr: rangesOf(first).podCidr };
      await ensurePlaneNetwork({ dataDirectory: first, ...options });
      await removeEverything(first);
      await ensurePlaneNetwork({ dataDirectory: second, ...options });
      await assert.rejects(
        ensurePlaneNetwork({ dataDirectory: first, ...options }),
        /pod range [\d./]+ is in use on this machine; next:/,
      );
    }),
  ),
);

test('a container outlives the kill of its agent, and the next agent learns how it ends', { skip }, () =>
  withDataDirectory(async (directory) => {
    const { pod } = await network(directory);
    const place = join(directory, 'pods/u/containers/a/0');
    // Stands for the agent: starts a container, then is killed with SIGKILL by its own hand.
    const agent = join(directory, 'agent.mjs');
    const launch = {
      directory: place,
      networkNamespace: pod.namespace,
      hostname: 'pod-a',
      command: ['/bin/sh', '-c', 'echo up; read line </tmp/gate; exit 5'],
      environment: { PATH: '/usr/bin:/bin' },
      workingDirectory: '/',
      root: { files: [], mounts: [], isReadOnly: false },
      cgroups: [],
      hasInput: false,
    };
    writeFileSync(
      agent,
      `import { ContainerProcess } from ${JSON.stringify(new URL('../src/sandbox/container-process.js', import.meta.url).href)};
       await ContainerProcess.start(${JSON.stringify({ ...launch, command: ['/bin/sh', '-c', 'mkfifo /tmp/gate; echo up; read line </tmp/gate; exit 5'] })});
       process.kill(process.pid, 'SIGKILL');`,
    );
    const killedBy = await new Promise((resolve) => {
      spawn(process.execPath, [agent], { stdio: 'inherit' }).once('exit', (_code, signal) => resolve(signal));
    });
    assert.equal(killedBy, 'SIGKILL');
    const adopted = ContainerProcess.adopt(place, pod.namespace);
    await until('the program to be up', () => readFileSync(join(place, 'output/stdout'), 'utf8').includes('up'));
    assert.equal(adopted.state().kind, 'running');
    writeFileSync(join(place, 'layer/tmp/gate'), 'go\n');
    assert.equal((await exitOf(adopted)).exitCode, 5);
  }),
);

test(
  'who has an address has the same hardware address as who had it before: neighbours need not ask anew',
  { skip },
  () =>
    withDataDirectory(async (directory) => {
      const { plane, pod } = await network(directory);
      const hardware = async () =>
        /link\/ether (\S+)/.exec(await requireCommand('ip', ['-netns', pod.namespace, 'link', 'show', 'eth0']))?.[1];
      const bytes = pod.address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
      assert.equal(await hardware(), `0a:58:${bytes.join(':')}`);
      const ofBridge = async () => await requireCommand('cat', [`/sys/class/net/${plane.bridge}/address`]);
      const before = await ofBridge();
      await removePodNetwork(pod, plane.bridge);
      await createPodNetwork(plane, pod);
      assert.equal(await hardware(), `0a:58:${bytes.join(':')}`);
      assert.equal(await ofBridge(), before);
    }),
);
