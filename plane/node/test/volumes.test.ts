import assert from 'node:assert/strict';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configMaps, type Pod, pods, secrets } from '@castellan/machinery';
import { type AgentUnderTest, isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
import { cannotRunPods, until } from './machine.js';

const skip = cannotRunPods();
const metadata = (name: string) => ({ namespace: 'default', name });

/** A file of a running container, as it is seen inside. */
async function inside({ agent }: AgentUnderTest, command: string): Promise<string> {
  const request = { namespace: 'default', pod: 'a', container: 'main', stdin: false, tty: false };
  const process = await agent.execute({ ...request, command: ['sh', '-c', command] }, AbortSignal.timeout(30_000));
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdout) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function versionOf(directory: string, pod: Pod, volume: string): string {
  return readlinkSync(join(directory, 'pods', pod.metadata.uid ?? '', 'volumes', volume, '..data'));
}

test(
  'N45 files of volumes follow config maps, secrets and labels while the pod runs, all at once; those of a subPath do not',
  { skip },
  withAgent(async (agent, directory) => {
    const { cluster, podThat } = agent;
    const secret = (text: string) => ({ password: Buffer.from(text).toString('base64') });
    await cluster.create(configMaps, { metadata: metadata('settings'), data: { key: 'one', gone: 'x' } });
    await cluster.create(secrets, { metadata: metadata('hidden'), type: 'Opaque', data: secret('s1') });
    await cluster.create(
      pods,
      shellPod('a', 'exec sleep 600', {
        volumes: [
          {
            name: 'all',
            projected: {
              sources: [
                { configMap: { name: 'settings' } },
                { secret: { name: 'hidden', optional: true } },
                { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
              ],
            },
          },
          { name: 'later', configMap: { name: 'late', optional: true } },
        ],
        main: {
          volumeMounts: [
            { name: 'all', mountPath: '/all' },
            { name: 'all', mountPath: '/one', subPath: 'key' },
            { name: 'later', mountPath: '/later' },
          ],
        },
      }),
    );
    const pod = await podThat('a', 'to be ready', isReady);
    const all = 'cat /all/key /all/password /all/labels /one; ls /all /later';
    assert.equal(await inside(agent, all), 'ones1app="a"one/all:\ngone\nkey\nlabels\npassword\n\n/later:\n');
    const version = versionOf(directory, pod, 'all');
    await cluster.update(configMaps, { metadata: metadata('settings'), data: { key: 'two' } });
    await cluster.update(secrets, { metadata: metadata('hidden'), type: 'Opaque', data: secret('s2') });
    await cluster.create(configMaps, { metadata: metadata('late'), data: { came: '' } });
    const labels = { metadata: { labels: { app: 'b' } } };
    await cluster.patch(pods, metadata('a'), { type: 'merge', body: labels });
    const changed = 'twos2app="b"one/all:\nkey\nlabels\npassword\n\n/later:\ncame\n';
    await until('the changes to be seen', async () => (await inside(agent, all)) === changed);
    assert.notEqual(versionOf(directory, pod, 'all'), version);
    assert.equal(mainStatus(await podThat('a', 'to be there', () => true)).restartCount, 0);
    // What changes nothing writes nothing.
    const now = versionOf(directory, pod, 'all');
    await cluster.patch(pods, metadata('a'), { type: 'merge', body: { metadata: { annotations: { note: 'x' } } } });
    await cluster.update(configMaps, { metadata: metadata('late'), data: { came: '', again: '' } });
    await until('the last change', async () => (await inside(agent, 'ls /later')) === 'again\ncame\n');
    assert.equal(versionOf(directory, pod, 'all'), now);
  }),
);

test(
  'N45 an emptyDir in memory is shared by the containers of a pod, is no larger than it may be, and is gone with it',
  { skip },
  withAgent(async ({ cluster, podThat, podGone, logIs }, directory) => {
    const script =
      'exec 2>&1; stat -f -c %T /m; cat /m/word; head -c 2000000 /dev/zero >/m/large; echo $?; exec sleep 600';
    const volumeMounts = [{ name: 'm', mountPath: '/m' }];
    const writer = { name: 'writer', image: 'busybox', command: ['sh', '-c', 'echo hello >/m/word'], volumeMounts };
    const volumes = [{ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }];
    const pod = shellPod('a', script, { volumes, initContainers: [writer], main: { volumeMounts } });
    await cluster.create(pods, pod);
    await podThat('a', 'to be ready', isReady);
    await logIs('a', "tmpfs\nhello\nhead: error writing 'standard output': No space left on device\n1\n");
    await cluster.delete(pods, metadata('a'));
    await podGone('a');
    await until('the mount to be gone', () => !readFileSync('/proc/self/mounts', 'utf8').includes(directory));
  }),
);

test(
  'N45 a pod that writes more into an emptyDir, or altogether, than it may is evicted',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }) => {
    const script = 'head -c 3000000 /dev/zero >/m/large; exec sleep 600';
    const volumes = [{ name: 'm', emptyDir: { sizeLimit: '1Mi' } }];
    const main = { volumeMounts: [{ name: 'm', mountPath: '/m' }] };
    const init = {
      ...main,
      name: 'init',
      image: 'busybox',
      command: ['sh', '-c', script.replace('exec sleep 600', 'true')],
    };
    await cluster.create(pods, shellPod('a', 'exec sleep 600', { volumes, initContainers: [init], main }));
    const { status } = await podThat('a', 'to be evicted', (pod) => pod.status?.phase === 'Failed');
    const message = 'Usage of EmptyDir volume "m" exceeds the limit "1Mi". ';
    assert.deepEqual([status?.reason, status?.message], ['Evicted', message]);
    await until('the event', async () => (await eventsOf('a')).includes(`Evicted ${message}`));
  }),
);

test(
  'N14 a hostPath of another type, a variable that a path names and nobody set, and a mount that would be seen outside, are told',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }, directory) => {
    const hostPath = { path: join(directory, 'pods'), type: 'File' };
    const main = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };
    await cluster.create(pods, shellPod('type', 'true', { volumes: [{ name: 'v', hostPath }], main }));
    const mounting = (name: string, mount: object) => {
      const volumes = [{ name: 'v', emptyDir: {} }];
      const volumeMounts = [{ name: 'v', mountPath: '/v', ...mount }];
      return cluster.create(pods, shellPod(name, 'true', { volumes, main: { volumeMounts } }));
    };
    await mounting('variable', { subPathExpr: '$(NONE)/x' });
    await mounting('outside', { mountPropagation: 'Bidirectional' });
    const event = `FailedMount MountVolume.SetUp failed for volume "v" : hostPath type check failed: ${hostPath.path} is not a file`;
    await until('the event', async () => (await eventsOf('type')).includes(event));
    const waiting = async (name: string) => {
      const isTold = (pod: Pod) => mainStatus(pod).state?.waiting?.reason === 'CreateContainerConfigError';
      return mainStatus(await podThat(name, 'to be told', isTold)).state?.waiting?.message;
    };
    assert.equal(await waiting('variable'), 'missing value for "NONE"');
    assert.match((await waiting('outside')) ?? '', /^mountPropagation Bidirectional of "\/v" is not offered/);
  }),
);

test(
  'subPathExpr is made of the environment, a path of the machine that is named without a type is made, and a Secret adds no arguments',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, directory) => {
    const path = join(directory, 'made/here');
    const volumes = [{ name: 'host', hostPath: { path } }];
    const main = {
      env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      volumeMounts: [{ name: 'host', mountPath: '/v', subPathExpr: 'of-$(POD)' }],
    };
    await cluster.create(pods, shellPod('a', 'echo x >/v/file; echo done', { volumes, main, restartPolicy: 'Never' }));
    await podThat('a', 'to have succeeded', ({ status }) => status?.phase === 'Succeeded');
    await logIs('a', 'done\n');
    assert.equal(existsSync(join(path, 'of-a/file')), true);
    const data = { sly: Buffer.from('x\0--bind\0/\0/host').toString('base64') };
    await cluster.create(secrets, { metadata: metadata('sly'), type: 'Opaque', data });
    await cluster.create(pods, shellPod('b', 'ls /host', { main: { envFrom: [{ secretRef: { name: 'sly' } }] } }));
    const pod = await podThat(
      'b',
      'to be told',
      (now) => mainStatus(now).state?.waiting?.reason === 'CreateContainerError',
    );
    assert.match(mainStatus(pod).state?.waiting?.message ?? '', /contains a NUL/);
  }),
);
