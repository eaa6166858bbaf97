import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pods } from '@castellan/machinery';
import { ImageStore } from '../src/image-store/image-store.js';
import { loadArchive } from '../src/image-store/load-archive.js';
import { parseImageName } from '../src/images/image-name.js';
import { isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
import { directory, dockerArchive, type Member, symbolicLink, tar } from './archives.js';
import { cannotRunPods } from './machine.js';

const busybox = '/usr/bin/busybox';
const skip = existsSync(busybox) ? cannotRunPods() : 'no busybox on this machine: apt-get install busybox';

/** A whole system of one program: busybox with the libraries that it is linked with, as an image would have them. */
function system(): Buffer {
  const libraries = [...execFileSync('ldd', [busybox], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)].map(
    ([, path = '']) => path,
  );
  const files = [busybox, ...libraries].map(
    (path): Member => ({ path: path.slice(1), content: readFileSync(path), mode: 0o755 }),
  );
  const links = ['sh', 'cat', 'id', 'ls', 'sleep', 'touch', 'pwd', 'echo', 'rm', 'mkdir'].map((name) =>
    symbolicLink(`bin/${name}`, busybox),
  );
  const users = [
    { path: 'etc/passwd', content: 'root:x:0:0::/root:/bin/sh\nweb:x:1200:1300::/home/web:/bin/sh\n' },
    { path: 'etc/group', content: 'root:x:0:\nweb:x:1300:\nlog:x:1400:web\n' },
  ];
  return tar([directory('bin'), directory('etc'), directory('tmp', 0o1777), ...users, ...files, ...links]);
}

interface Said {
  readonly name?: string;
  readonly user?: string;
  readonly command?: readonly string[];
}

async function load(home: string, { name = 'team/system:1', user = '', command = ['sleep', '1000'] }: Said = {}) {
  const config = {
    User: user,
    Env: ['PATH=/bin', 'GREETING=hello'],
    Entrypoint: ['/bin/sh', '-c'],
    Cmd: [command.join(' ')],
    WorkingDir: '/srv/work',
  };
  const archive = join(home, 'system.tar');
  dockerArchive(archive, { layers: [system()], config }, [name]);
  await loadArchive(new ImageStore(home), archive, { origin: 'archive', nowMs: 0 });
}

const own = { image: 'team/system:1', imagePullPolicy: 'Always' } as const;

test(
  'IM7: a container of a loaded image sees the image’s files alone, with its environment, user, directory and command',
  { skip },
  withAgent(async ({ cluster, podThat, logIs, eventsOf }, home) => {
    const script = 'id; pwd; echo $GREETING $HOME; ls /; cat /etc/hostname; sleep 1000';
    await load(home, { user: 'web', command: [script] });
    const pod = shellPod('a', '', { restartPolicy: 'Always' });
    const [main] = pod.spec?.containers ?? [];
    const { command: _, ...asTheImageSays } = { ...main, name: 'main', ...own };
    await cluster.create(pods, { ...pod, spec: { ...pod.spec, containers: [asTheImageSays] } });
    const running = await podThat('a', 'to be ready', isReady);
    const files = ['bin', 'dev', 'etc', 'lib', 'lib64', 'proc', 'srv', 'tmp', 'usr'];
    const root = existsSync('/lib64/ld-linux-x86-64.so.2') ? files : files.filter((name) => name !== 'lib64');
    await logIs(
      'a',
      `uid=1200(web) gid=1300(web) groups=1400(log)\n/srv/work\nhello /home/web\n${root.join('\n')}\na\n`,
    );
    assert.match(mainStatus(running).imageID, /^sha256:[0-9a-f]{64}$/);
    assert.ok(
      (await eventsOf('a')).includes(
        'Pulled Container image "team/system:1" already present on machine (loaded from an archive)',
      ),
    );
  }),
);

test(
  'IM7: what a container writes is its own: neither the image nor its next start has it',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, home) => {
    await load(home);
    const store = new ImageStore(home);
    const before = tree(store.find(parseImageName('team/system:1'))?.root ?? '');
    const script = 'ls /etc; echo x >/etc/mine; rm /etc/group; mkdir -p /var/deep; exit 1';
    await cluster.create(
      pods,
      shellPod('a', script, { restartPolicy: 'OnFailure', main: { ...own, command: ['/bin/sh', '-c', script] } }),
    );
    const names = 'group\nhostname\nhosts\npasswd\nresolv.conf\n';
    await podThat('a', 'to be started again', (pod) => mainStatus(pod).restartCount >= 1);
    await logIs('a', names);
    assert.deepEqual(tree(store.find(parseImageName('team/system:1'))?.root ?? ''), before);
  }),
);

test(
  'IM7: probes run in the image, and volumes are mounted over it',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }, home) => {
    await load(home, { user: '1200:1300' });
    const script = 'echo data >/data/file; cat /data/file; sleep 1000';
    await cluster.create(
      pods,
      shellPod('a', '', {
        restartPolicy: 'Always',
        volumes: [{ name: 'v', emptyDir: {} }],
        main: {
          ...own,
          command: ['/bin/sh', '-c', script],
          readinessProbe: { exec: { command: ['cat', '/data/file'] }, periodSeconds: 1 },
          volumeMounts: [{ name: 'v', mountPath: '/data' }],
        },
        securityContext: { fsGroup: 1300 },
      }),
    );
    await podThat('a', 'to be ready', isReady);
    await logIs('a', 'data\n');
  }),
);

test(
  'IM8: an image that is not there is told in kubelet’s words, and its pod starts once it is loaded',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }, home) => {
    await cluster.create(pods, shellPod('a', 'sleep 1000', { main: { image: 'team/system:1' } }));
    await cluster.create(
      pods,
      shellPod('b', 'sleep 1000', { main: { image: 'team/system:1', imagePullPolicy: 'Never' } }),
    );
    const waiting = (reason: string) => (pod: Parameters<typeof mainStatus>[0]) =>
      mainStatus(pod).state?.waiting?.reason === reason;
    const backingOff = await podThat('a', 'to back off', waiting('ImagePullBackOff'));
    assert.match(
      mainStatus(backingOff).state?.waiting?.message ?? '',
      /^Back-off pulling image "team\/system:1": ErrImagePull: image "team\/system:1" is not on this machine.*; next: `castellan image load FILE`/,
    );
    const never = await podThat('b', 'never to be pulled', waiting('ErrImageNeverPull'));
    assert.match(
      mainStatus(never).state?.waiting?.message ?? '',
      /^Container image "team\/system:1" is not present with pull policy of Never/,
    );
    const said = await eventsOf('a');
    assert.ok(
      said.some((text) => text.startsWith('Failed Failed to pull image "team/system:1": image ')),
      said.join('\n'),
    );
    assert.ok(said.includes('Failed Error: ErrImagePull'));
    assert.ok(said.includes('BackOff Back-off pulling image "team/system:1"'));
    assert.ok(said.includes('Failed Error: ImagePullBackOff'));
    await load(home);
    await podThat('a', 'to be ready', isReady);
    await podThat('b', 'to be ready', isReady);
  }),
);

function tree(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
}
