import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Container, pods } from '@castellan/machinery';
import { isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
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
