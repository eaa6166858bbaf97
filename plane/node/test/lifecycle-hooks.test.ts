import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Container, pods } from '@castellan/machinery';
import { realWorld } from '@castellan/world';
import { type AgentUnderTest, isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
import { cannotRunPods, until } from './machine.js';

const skip = cannotRunPods();

/** For containers that write down in which order things happen to them: in `shared/order` of the data directory. */
function sharing(directory: string) {
  const path = join(directory, 'shared');
  return {
    volumes: [{ name: 'shared', hostPath: { path, type: 'DirectoryOrCreate' } }],
    volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    order: () => readFileSync(join(path, 'order'), 'utf8').trim().split('\n'),
  };
}

const untilAsked = (name: string) =>
  `trap "echo ${name} asked >>/shared/order; exit 0" TERM; echo ${name} up >>/shared/order; while :; do sleep 0.02; done`;

test(
  'N41 a container runs for others, is probed, and is followed by the next one when its postStart hook has ended',
  { skip },
  withAgent(async ({ cluster, podThat }, directory) => {
    const { volumes, volumeMounts, order } = sharing(directory);
    const hook = 'echo hook >>/shared/order; mkfifo /shared/gate; read line </shared/gate; echo done >>/shared/order';
    const pod = shellPod('a', untilAsked('main'), {
      volumes,
      main: { volumeMounts, lifecycle: { postStart: { exec: { command: ['/bin/sh', '-c', hook] } } } },
    });
    const second: Container = { ...mainOf(pod), name: 'second', command: ['/bin/sh', '-c', untilAsked('second')] };
    const { lifecycle: _, ...plain } = second;
    await cluster.create(pods, { ...pod, spec: { ...pod.spec, containers: [mainOf(pod), plain] } });
    await until('the hook', () => existing(() => order().includes('hook')));
    const held = await podThat('a', 'to have a status', ({ status }) => status?.containerStatuses?.length === 2);
    assert.deepEqual(mainStatus(held).state, { waiting: { reason: 'ContainerCreating' } });
    assert.equal(held.status?.phase, 'Pending');
    writeFileSync(join(directory, 'shared/gate'), 'go\n');
    await podThat('a', 'to be ready', isReady);
    await until('the second container', () => order().includes('second up'));
    assert.deepEqual(order().slice(-2), ['done', 'second up']);
  }),
);

test(
  'N41 a postStart hook that fails ends its container, which is then restarted; a preStop hook that fails is told',
  { skip },
  withAgent(async ({ cluster, podThat, podGone, eventsOf }) => {
    const exec = { command: ['/bin/sh', '-c', 'echo secret; exit 3'] };
    const script = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
    await cluster.create(pods, shellPod('a', script, { main: { lifecycle: { postStart: { exec } } } }));
    await cluster.create(pods, shellPod('b', script, { main: { lifecycle: { preStop: { exec } } } }));
    const pod = await podThat(
      'a',
      'to back off',
      (now) => mainStatus(now).state?.waiting?.reason === 'CrashLoopBackOff',
    );
    assert.equal(mainStatus(pod).restartCount, 1);
    const events = await until('the events', async () => {
      const all = await eventsOf('a');
      return all.some((text) => text.startsWith('BackOff')) && all;
    });
    assert.ok(events.includes('FailedPostStartHook PostStartHook failed'));
    assert.ok(events.includes('Killing FailedPostStartHook'));
    assert.equal(events.join().includes('secret'), false, 'what a hook prints is in no event');
    await podThat('b', 'to be ready', isReady);
    await cluster.delete(pods, { namespace: 'default', name: 'b' });
    await podGone('b');
    await until('the event', async () => (await eventsOf('b')).includes('FailedPreStopHook PreStopHook failed'));
  }),
);

test(
  'N41 a preStop hook that sleeps holds up the end of its container, and of no other',
  { skip },
  withNap(77_000, async ({ cluster, podThat, podGone }, directory, nap) => {
    const { volumes, volumeMounts, order } = sharing(directory);
    const pod = shellPod('a', untilAsked('main'), {
      volumes,
      terminationGracePeriodSeconds: 600,
      main: { volumeMounts, lifecycle: { preStop: { sleep: { seconds: 77 } } } },
    });
    const { lifecycle: _, ...plain } = mainOf(pod);
    const other: Container = { ...plain, name: 'other', command: ['/bin/sh', '-c', untilAsked('other')] };
    await cluster.create(pods, { ...pod, spec: { ...pod.spec, containers: [mainOf(pod), other] } });
    await podThat('a', 'to be ready', isReady);
    await until('both to be up', () => existing(() => order().length === 2));
    await cluster.delete(pods, { namespace: 'default', name: 'a' });
    await until('the hook', () => nap.isBegun());
    await until('the other container to be asked', () => order().includes('other asked'));
    appendFileSync(join(directory, 'shared/order'), 'slept\n');
    nap.end();
    await podGone('a');
    assert.deepEqual(order().slice(2), ['other asked', 'slept', 'main asked']);
  }),
);

test(
  'N41 a postStart hook over HTTP asks its own pod, at the port of that name',
  { skip },
  withAgent(async ({ cluster, podThat }, directory) => {
    const { volumes, volumeMounts, order } = sharing(directory);
    const lines = `
      const { appendFileSync } = require('node:fs');
      const server = require('node:http').createServer(({ url }, response) => {
        appendFileSync('/shared/order', url + '\\n');
        response.writeHead(500).end();
      });
      server.listen(8080, '0.0.0.0', () => appendFileSync('/shared/order', 'listens\\n'));
      process.on('SIGTERM', () => process.exit());`;
    // A hook asks once, and a program takes a while to listen: the one that serves is there before.
    const server: Container = {
      name: 'server',
      image: 'busybox',
      command: [process.execPath, '-e', lines],
      volumeMounts,
      restartPolicy: 'Always',
      startupProbe: { exec: { command: ['grep', '-q', 'listens', '/shared/order'] }, periodSeconds: 1 },
    };
    const postStart = { httpGet: { path: '/started', port: 'web' } };
    const main = { volumeMounts, ports: [{ name: 'web', containerPort: 8080 }], lifecycle: { postStart } };
    await cluster.create(pods, shellPod('a', untilAsked('main'), { volumes, initContainers: [server], main }));
    const pod = await podThat('a', 'to be ready', isReady);
    assert.equal(mainStatus(pod).restartCount, 0, 'any answer is a success');
    assert.deepEqual(
      order().filter((line) => line !== 'main up'),
      ['listens', '/started'],
    );
  }),
);

test(
  "a pod's host aliases are in its /etc/hosts, after its own address",
  { skip },
  withAgent(async ({ cluster, podThat, logIs }) => {
    const hostAliases = [
      { ip: '10.1.2.3', hostnames: ['foo.example', 'bar.example'] },
      { ip: 'fd00::7', hostnames: ['six.example'] },
    ];
    await cluster.create(pods, shellPod('a', 'cat /etc/hosts', { restartPolicy: 'Never', hostAliases }));
    const { status } = await podThat('a', 'to be over', (pod) => pod.status?.phase === 'Succeeded');
    const own = `127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n${status?.podIP}\ta\n`;
    await logIs('a', `${own}10.1.2.3\tfoo.example\tbar.example\nfd00::7\tsix.example\n`);
  }),
);

test(
  'N43 sidecars start before the main container and end after it, the last one first, with the pod or when it is over',
  { skip },
  withAgent(async ({ cluster, podThat, podGone }, directory) => {
    const { volumes, volumeMounts, order } = sharing(directory);
    const sidecar = (name: string, rest: Partial<Container> = {}): Container => ({
      name,
      image: 'busybox',
      command: ['/bin/sh', '-c', untilAsked(name)],
      volumeMounts,
      restartPolicy: 'Always',
      ...rest,
    });
    const startupProbe = { exec: { command: ['grep', '-q', 'one up', '/shared/order'] }, periodSeconds: 1 };
    const initContainers = [sidecar('one', { startupProbe }), sidecar('two')];
    await cluster.create(pods, shellPod('a', untilAsked('main'), { volumes, initContainers, main: { volumeMounts } }));
    await podThat('a', 'to be ready', isReady);
    await until('the main container', () => order().includes('main up'));
    await cluster.delete(pods, { namespace: 'default', name: 'a' });
    await podGone('a');
    assert.deepEqual(order(), ['one up', 'two up', 'main up', 'main asked', 'two asked', 'one asked']);
    const main = { volumeMounts };
    const job = shellPod('job', 'exit 0', { restartPolicy: 'Never', volumes, main, initContainers: [sidecar('one')] });
    await cluster.create(pods, job);
    const over = await podThat('job', 'to be over', ({ status }) => status?.phase === 'Succeeded');
    assert.equal(over.status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 0);
  }),
);

test(
  'N42 a pod that is active for longer than it may be fails, and what runs of it ends',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }) => {
    const script = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
    await cluster.create(pods, shellPod('a', script, { activeDeadlineSeconds: 1 }));
    const { status } = await podThat('a', 'to have failed', (pod) => pod.status?.phase === 'Failed');
    assert.equal(status?.reason, 'DeadlineExceeded');
    assert.equal(status?.message, 'Pod was active on the node longer than the specified deadline');
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
    const event = `DeadlineExceeded ${status?.message}`;
    await until('the event', async () => (await eventsOf('a')).includes(event));
  }),
);

test(
  'a container that fails without a message of its own is told of by the end of its log, where the pod asks for it',
  { skip },
  withAgent(async ({ cluster, podThat }) => {
    const create = (name: string, script: string) =>
      cluster.create(
        pods,
        shellPod(name, script, {
          restartPolicy: 'Never',
          main: { terminationMessagePolicy: 'FallbackToLogsOnError', terminationMessagePath: '/tmp/word' },
        }),
      );
    await create('log', 'seq 1000; exit 1');
    await create('own', 'echo log; echo own >/tmp/word; exit 1');
    await create('well', 'echo log');
    const messageOf = async (name: string) => {
      const pod = await podThat(name, 'to be over', ({ status }) => /^(Succeeded|Failed)$/.test(status?.phase ?? ''));
      return mainStatus(pod).state?.terminated?.message;
    };
    const lines = Array.from({ length: 80 }, (_, index) => `${921 + index}\n`);
    assert.equal(await messageOf('log'), lines.join(''));
    assert.deepEqual([await messageOf('own'), await messageOf('well')], ['own\n', undefined]);
  }),
);

interface Nap {
  isBegun(): boolean;
  end(): void;
}

/** As `withAgent`, on a clock whose sleep of exactly `lengthMs` lasts until the test ends it. */
function withNap(lengthMs: number, body: (agent: AgentUnderTest, directory: string, nap: Nap) => Promise<void>) {
  const real = realWorld();
  const alarm = new AbortController();
  let isBegun = false;
  const sleep: typeof real.clock.sleep = (delayMs, signal) => {
    if (delayMs !== lengthMs) return real.clock.sleep(delayMs, signal);
    isBegun = true;
    return new Promise((resolve) => alarm.signal.addEventListener('abort', () => resolve()));
  };
  const { clock } = real;
  const world = {
    ...real,
    clock: {
      now: () => clock.now(),
      monotonicNow: () => clock.monotonicNow(),
      after: (delayMs: number, callback: () => void) => clock.after(delayMs, callback),
      sleep,
    },
  };
  const nap = { isBegun: () => isBegun, end: () => alarm.abort() };
  return withAgent(
    (agent, directory) => body(agent, directory, nap).finally(nap.end),
    () => ({ world }),
  );
}

function mainOf({ spec }: ReturnType<typeof shellPod>): Container {
  const [main] = spec?.containers ?? [];
  assert.ok(main !== undefined);
  return main;
}

function existing(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}
