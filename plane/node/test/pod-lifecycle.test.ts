import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configMaps, pods, secrets } from '@castellan/machinery';
import { leftNamespaces } from '../src/sandbox/pod-network.js';
import { conditionOf, isReady, mainStatus, openGate, shellPod, waitAtGate, withAgent } from './agent-under-test.js';
import { cannotRunPods, rangesOf, until } from './machine.js';

const skip = cannotRunPods();

test(
  'N4 init containers run one after the other before the first main container, and N10 the pod becomes ready',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, directory) => {
    const init = (name: string, script: string) => ({
      name,
      image: 'busybox',
      command: ['/bin/sh', '-c', script],
      volumeMounts: [{ name: 'work', mountPath: '/work' }],
    });
    await cluster.create(
      pods,
      shellPod('a', 'cat /work/order; sleep 1000', {
        initContainers: [
          init('first', 'sleep 0.2; echo first >>/work/order'),
          init('second', 'echo second >>/work/order'),
        ],
        volumes: [{ name: 'work', emptyDir: {} }],
        main: { volumeMounts: [{ name: 'work', mountPath: '/work' }] },
      }),
    );
    const pod = await podThat('a', 'to be ready', isReady);
    await logIs('a', 'first\nsecond\n');
    assert.equal(pod.status?.phase, 'Running');
    assert.equal(pod.status?.podIP, rangesOf(directory).podCidr.replace('0/24', '2'));
    assert.deepEqual(
      ['PodReadyToStartContainers', 'Initialized', 'ContainersReady'].map((type) => conditionOf(pod, type)),
      ['True', 'True', 'True'],
    );
    assert.deepEqual(
      pod.status?.initContainerStatuses?.map(({ ready, state }) => [ready, state?.terminated?.reason]),
      [
        [true, 'Completed'],
        [true, 'Completed'],
      ],
    );
  }),
);

test(
  'N5 a pod that is never restarted ends as Failed or Succeeded, and its network goes while its log stays',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, directory) => {
    await cluster.create(pods, shellPod('good', 'echo done', { restartPolicy: 'Never' }));
    await cluster.create(pods, shellPod('bad', 'echo broken; exit 9', { restartPolicy: 'Never' }));
    const good = await podThat('good', 'to have succeeded', ({ status }) => status?.phase === 'Succeeded');
    const bad = await podThat('bad', 'to have failed', ({ status }) => status?.phase === 'Failed');
    assert.equal(mainStatus(good).state?.terminated?.reason, 'Completed');
    assert.equal(mainStatus(bad).state?.terminated?.exitCode, 9);
    assert.equal(mainStatus(bad).state?.terminated?.reason, 'Error');
    await until('the networks to be gone', async () => (await leftNamespaces(directory)).length === 0);
    await logIs('bad', 'broken\n');
  }),
);

test(
  'N6 a container that fails is restarted at once, then waits in CrashLoopBackOff; its previous log is kept',
  { skip },
  withAgent(async ({ cluster, podThat, logIs, eventsOf }) => {
    await cluster.create(
      pods,
      shellPod('a', 'echo "$COUNT"; exit 1', { main: { env: [{ name: 'COUNT', value: 'once' }] } }),
    );
    const pod = await podThat(
      'a',
      'to be in CrashLoopBackOff',
      (now) => now.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
    );
    assert.equal(mainStatus(pod).restartCount, 1);
    assert.equal(mainStatus(pod).lastState?.terminated?.exitCode, 1);
    assert.equal(pod.status?.phase, 'Running');
    await logIs('a', 'once\n', { previous: true });
    await until('the event', async () =>
      (await eventsOf('a')).some((text) =>
        text.startsWith('BackOff Back-off restarting failed container main in pod a_default('),
      ),
    );
  }),
);

test(
  'N11 a deleted pod is asked to end, has its last status written, and leaves nothing',
  { skip },
  withAgent(async ({ cluster, podThat, podGone, logIs, pod, eventsOf }, directory) => {
    await cluster.create(pods, shellPod('a', 'trap "echo asked; exit 0" TERM; echo up; while :; do sleep 0.02; done'));
    await podThat('a', 'to be ready', isReady);
    await logIs('a', 'up\n');
    await cluster.delete(pods, { namespace: 'default', name: 'a' });
    await podGone('a');
    assert.equal(await pod('a'), undefined);
    assert.deepEqual(await leftNamespaces(directory), []);
    assert.deepEqual(readdirSync(join(directory, 'pods')), []);
    await until('the event', async () => (await eventsOf('a')).includes('Killing Stopping container main'));
  }),
);

test(
  'N11 a program that does not comply is killed at the end of the grace period',
  { skip },
  withAgent(async ({ cluster, podThat, podGone, logIs }) => {
    await cluster.create(
      pods,
      shellPod('a', 'trap "" TERM; echo up; while :; do sleep 0.02; done', { terminationGracePeriodSeconds: 1 }),
    );
    await podThat('a', 'to be ready', isReady);
    await logIs('a', 'up\n');
    const before = performance.now();
    await cluster.delete(pods, { namespace: 'default', name: 'a' });
    await podGone('a');
    assert.ok(performance.now() - before >= 900, 'it was killed before the end of the grace period');
  }),
);

test(
  'N12 a pod that is removed by force ends at once, and one of the same name starts beside it',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, directory) => {
    await cluster.create(pods, shellPod('a', 'trap "" TERM; echo one; while :; do sleep 0.02; done'));
    const first = await podThat('a', 'to be ready', isReady);
    await cluster.delete(pods, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 });
    await cluster.create(pods, shellPod('a', 'echo two; sleep 1000'));
    const second = await podThat('a', 'to be ready', isReady);
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    await logIs('a', 'two\n');
    await until('the first pod to be gone', () => !existsSync(join(directory, 'pods', first.metadata.uid ?? '')));
  }),
);

test(
  'N13 the environment is made anew at every start, from the pod as it is then',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, directory) => {
    const env = [
      { name: 'PHASE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['phase']" } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'settings', key: 'key' } } },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'hidden', key: 'password' } } },
      { name: 'BOTH', value: '$(KEY)-$(PHASE)-$$(KEY)' },
    ];
    await cluster.create(configMaps, { metadata: { namespace: 'default', name: 'settings' }, data: { key: 'k' } });
    await cluster.create(secrets, {
      metadata: { namespace: 'default', name: 'hidden' },
      type: 'Opaque',
      data: { password: Buffer.from('s3').toString('base64') },
    });
    const pod = shellPod('a', `echo "$BOTH $IP $PASSWORD $1"; ${waitAtGate}`, {
      main: { env, args: ['name', '$(KEY)!'] },
    });
    await cluster.create(pods, { ...pod, metadata: { ...pod.metadata, annotations: { phase: 'new' } } });
    const first = await podThat(
      'a',
      'to run',
      ({ status }) => status?.containerStatuses?.[0]?.state?.running !== undefined,
    );
    await cluster.patch(
      pods,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { metadata: { annotations: { phase: 'existing' } } } },
    );
    await openGate(directory, first, 1);
    await podThat('a', 'to have restarted', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 1);
    const ip = first.status?.podIP;
    await logIs('a', `k-new-$(KEY) ${ip} s3 k!\n`, { previous: true });
    await logIs('a', `k-existing-$(KEY) ${ip} s3 k!\n`);
  }),
);

test(
  'N14 what the manifest names and is not there becomes a reason to wait, and the pod goes on when it comes',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }) => {
    await cluster.create(
      pods,
      shellPod('a', 'sleep 1000', {
        main: { env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'late', key: 'x' } } }] },
      }),
    );
    await cluster.create(
      pods,
      shellPod('b', 'sleep 1000', {
        volumes: [{ name: 'v', configMap: { name: 'late' } }],
        main: { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      }),
    );
    await podThat(
      'a',
      'to wait for its config map',
      (pod) => mainStatus(pod).state?.waiting?.reason === 'CreateContainerConfigError',
    );
    await podThat('b', 'to wait for its volume', (pod) =>
      (mainStatus(pod).state?.waiting?.message ?? '').includes('configmap "late" not found'),
    );
    await until('the event', async () =>
      (await eventsOf('b')).includes(
        'FailedMount MountVolume.SetUp failed for volume "v" : configmap "late" not found',
      ),
    );
    await cluster.create(configMaps, { metadata: { namespace: 'default', name: 'late' }, data: { x: '1' } });
    await podThat('a', 'to be ready', isReady);
    await podThat('b', 'to be ready', isReady);
  }),
);

test(
  'N14 an unknown image, a missing program and an impossible mount path are each told in one clear message',
  { skip },
  withAgent(async ({ cluster, podThat }) => {
    await cluster.create(pods, shellPod('image', 'true', { main: { image: 'example.com/none:1' } }));
    await cluster.create(
      pods,
      shellPod('program', 'true', { restartPolicy: 'Never', main: { command: ['/no/such/program'] } }),
    );
    await cluster.create(
      pods,
      shellPod('mount', 'true', {
        restartPolicy: 'Never',
        volumes: [{ name: 'v', emptyDir: {} }],
        main: { volumeMounts: [{ name: 'v', mountPath: '/usr/no/way' }] },
      }),
    );
    const image = await podThat(
      'image',
      'to lack its image',
      // The second name is that of all tries after the first.
      (pod) => /^(ErrImagePull|ImagePullBackOff)$/.test(mainStatus(pod).state?.waiting?.reason ?? ''),
    );
    assert.match(mainStatus(image).state?.waiting?.message ?? '', /is not on this machine.*next:/);
    const program = await podThat('program', 'to have failed', ({ status }) => status?.phase === 'Failed');
    assert.match(
      mainStatus(program).state?.terminated?.message ?? '',
      /\/no\/such\/program: No such file or directory/,
    );
    assert.equal(mainStatus(program).state?.terminated?.reason, 'StartError');
    const mount = await podThat('mount', 'to have failed', ({ status }) => status?.phase === 'Failed');
    assert.match(mainStatus(mount).state?.terminated?.message ?? '', /\/usr\/no\/way.*Read-only file system/);
  }),
);

test(
  'N9 a container whose image was changed is replaced by one of the new image',
  { skip },
  withAgent(async ({ cluster, podThat }) => {
    await cluster.create(
      pods,
      shellPod('a', 'trap "exit 0" TERM; while :; do sleep 0.02; done', { restartPolicy: 'Always' }),
    );
    const pod = await podThat('a', 'to be ready', isReady);
    const [container] = pod.spec?.containers ?? [];
    const body = { spec: { containers: [{ ...container, image: 'busybox:1.36' }] } };
    await cluster.patch(pods, { namespace: 'default', name: 'a' }, { type: 'merge', body });
    await podThat('a', 'to run the new image', (now) => isReady(now) && mainStatus(now).image === 'busybox:1.36');
  }),
);

test(
  'N18 a readiness probe makes a pod ready and unready, and a liveness probe restarts it',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }, directory) => {
    const probe = (name: string) => ({
      exec: { command: ['test', '-e', `/signs/${name}`] },
      periodSeconds: 1,
      failureThreshold: 1,
    });
    const signs = join(directory, 'signs');
    mkdirSync(signs);
    const [live, ready] = [join(signs, 'live'), join(signs, 'ready')];
    writeFileSync(live, '');
    await cluster.create(
      pods,
      shellPod('a', 'sleep 1000', {
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: 'signs', hostPath: { path: signs } }],
        main: {
          volumeMounts: [{ name: 'signs', mountPath: '/signs' }],
          readinessProbe: probe('ready'),
          livenessProbe: { ...probe('live'), initialDelaySeconds: 1 },
        },
      }),
    );
    await podThat('a', 'to run unready', (pod) => mainStatus(pod).state?.running !== undefined && !isReady(pod));
    writeFileSync(ready, '');
    await podThat('a', 'to be ready', isReady);
    rmSync(ready);
    await podThat('a', 'to be unready again', (pod) => !isReady(pod));
    assert.equal(mainStatus(await podThat('a', 'to be there', () => true)).restartCount, 0);
    rmSync(live);
    await podThat('a', 'to be restarted', (pod) => mainStatus(pod).restartCount >= 1);
    await until('the event', async () =>
      (await eventsOf('a')).includes('Killing Container main failed liveness probe, will be restarted'),
    );
  }),
);

test(
  'volumes hold config maps, secrets, fields and directories of the machine, each where and as the pod asks',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, directory) => {
    const metadata = (name: string) => ({ namespace: 'default', name });
    await cluster.create(configMaps, { metadata: metadata('settings'), data: { 'a.conf': 'from-config', other: 'x' } });
    const password = Buffer.from('from-secret').toString('base64');
    await cluster.create(secrets, { metadata: metadata('hidden'), type: 'Opaque', data: { password } });
    const script =
      'cd /v; cat config/a.conf secret/sub/password labels/names one; stat -L -c %a secret/sub/password; ls config; touch config/new; echo kept >host/file';
    const pod = shellPod('a', script, {
      restartPolicy: 'Never',
      volumes: [
        { name: 'config', configMap: { name: 'settings', items: [{ key: 'a.conf', path: 'a.conf' }] } },
        {
          name: 'secret',
          secret: { secretName: 'hidden', items: [{ key: 'password', path: 'sub/password', mode: 0o400 }] },
        },
        { name: 'labels', downwardAPI: { items: [{ path: 'names', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        { name: 'all', projected: { sources: [{ configMap: { name: 'settings' } }] } },
        { name: 'host', hostPath: { path: join(directory, 'host'), type: 'DirectoryOrCreate' } },
      ],
      main: {
        volumeMounts: [
          ...['config', 'secret', 'labels', 'host'].map((name) => ({ name, mountPath: `/v/${name}` })),
          { name: 'all', mountPath: '/v/one', subPath: 'other' },
        ],
      },
    });
    await cluster.create(pods, pod);
    await podThat('a', 'to have succeeded', ({ status }) => status?.phase === 'Succeeded');
    await logIs(
      'a',
      `from-configfrom-secretapp="a"x400\na.conf\ntouch: cannot touch 'config/new': Read-only file system\n`,
    );
    assert.equal(readFileSync(join(directory, 'host/file'), 'utf8'), 'kept\n');
  }),
);

test(
  'N11 a preStop hook is done before the program is asked to end',
  { skip },
  withAgent(async ({ cluster, podThat, podGone, logIs }, directory) => {
    const lifecycle = { preStop: { exec: { command: ['/bin/sh', '-c', 'echo hook >>/shared/order'] } } };
    const main = { lifecycle, volumeMounts: [{ name: 'shared', mountPath: '/shared' }] };
    const volumes = [{ name: 'shared', hostPath: { path: join(directory, 'shared'), type: 'DirectoryOrCreate' } }];
    const script = 'trap "echo asked >>/shared/order; exit 0" TERM; echo up; while :; do sleep 0.02; done';
    await cluster.create(pods, shellPod('a', script, { volumes, main }));
    await podThat('a', 'to be ready', isReady);
    await logIs('a', 'up\n');
    await cluster.delete(pods, { namespace: 'default', name: 'a' });
    await podGone('a');
    assert.equal(readFileSync(join(directory, 'shared/order'), 'utf8'), 'hook\nasked\n');
  }),
);
