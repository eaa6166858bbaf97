import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Pod, pods } from '@castellan/machinery';
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

function saveSystem(archive: string, { name = 'team/system:1', user = '', command = ['sleep', '1000'] }: Said): void {
  const config = {
    User: user,
    Env: ['PATH=/bin', 'GREETING=hello'],
    Entrypoint: ['/bin/sh', '-c'],
    Cmd: [command.join(' ')],
    WorkingDir: '/srv/work',
  };
  dockerArchive(archive, { layers: [system()], config }, [name]);
}

async function load(home: string, said: Said = {}): Promise<void> {
  const archive = join(home, 'system.tar');
  saveSystem(archive, said);
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
  'IM7: probes run in the image as its user, with a terminal too, and volumes are mounted over it',
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
          tty: true,
          command: ['/bin/sh', '-c', script],
          readinessProbe: { exec: { command: ['cat', '/data/file'] }, periodSeconds: 1 },
          volumeMounts: [{ name: 'v', mountPath: '/data' }],
        },
        securityContext: { fsGroup: 1300 },
      }),
    );
    await podThat('a', 'to be ready', isReady);
    await logIs('a', 'data\r\n');
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
    const refused = await eventsOf('b');
    assert.ok(refused.includes('Failed Error: ErrImageNeverPull'), refused.join('\n'));
    await load(home);
    await podThat('a', 'to be ready', isReady);
    await podThat('b', 'to be ready', isReady);
  }),
);

/** Answers as skopeo does: gives the archive `registry.tar` of its folder, once somebody has put it there. */
function simulatedSkopeo(home: string): string {
  const path = join(home, 'skopeo');
  const script = `#!/bin/sh
for last; do :; done
echo "$*" >>${home}/asked
[ -f ${home}/registry.tar ] || { echo 'time="now" level=fatal msg="initializing source: 404"' >&2; exit 1; }
cp ${home}/registry.tar "\${last#docker-archive:}"
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

test(
  'IM8: an image is pulled, backing off after failures, in kubelet’s words; and again for each start when the policy says so',
  { skip },
  withAgent(
    async ({ cluster, podThat, eventsOf }, home) => {
      const main = (imagePullPolicy: string) => ({
        image: 'team/system:1',
        imagePullPolicy,
        command: ['/bin/sleep', '1000'],
      });
      await cluster.create(pods, shellPod('patient', '', { main: main('IfNotPresent') }));
      const isBackingOff = (pod: Pod) => mainStatus(pod).state?.waiting?.reason === 'ImagePullBackOff';
      const failed = await podThat('patient', 'to back off', isBackingOff);
      assert.match(mainStatus(failed).state?.waiting?.message ?? '', /skopeo did not get it: .*404/);
      assert.ok((await eventsOf('patient')).includes('Pulling Pulling image "team/system:1"'));
      const archive = join(home, 'made.tar');
      saveSystem(archive, {});
      renameSync(archive, join(home, 'registry.tar'));
      await cluster.create(pods, shellPod('eager', '', { main: main('Always') }));
      await podThat('eager', 'to be ready', isReady);
      const pulled =
        /^Pulled Successfully pulled image "team\/system:1" in [\d.]+s \([\d.]+s including waiting\)\. Image size: \d+ bytes\.$/;
      const said = await eventsOf('eager');
      assert.ok(
        said.some((text) => pulled.test(text)),
        said.join('\n'),
      );
      // What another pod has pulled is there, and is not waited for.
      await podThat('patient', 'to be ready', isReady);
      const before = asked(home).length;
      await cluster.create(pods, shellPod('next', '', { main: main('Always') }));
      await podThat('next', 'to be ready', isReady);
      assert.equal(asked(home).length, before + 1);
      assert.match(
        asked(home)[0] ?? '',
        /^copy --quiet --override-os linux docker:\/\/docker\.io\/team\/system:1 docker-archive:/,
      );
    },
    (home) => ({ images: { skopeo: simulatedSkopeo(home) } }),
  ),
);

function asked(home: string): readonly string[] {
  return readFileSync(join(home, 'asked'), 'utf8').trim().split('\n');
}

test(
  'IM8: what is no name of an image is told so',
  { skip },
  withAgent(async ({ cluster, podThat }) => {
    await cluster.create(pods, shellPod('a', 'true', { main: { image: 'Team/System 1' } }));
    const isTold = (pod: Pod) => mainStatus(pod).state?.waiting?.reason === 'InvalidImageName';
    const pod = await podThat('a', 'to be told', isTold);
    assert.equal(
      mainStatus(pod).state?.waiting?.message,
      'Failed to apply default image tag "Team/System 1": couldn\'t parse image name "Team/System 1": invalid reference format',
    );
  }),
);

function tree(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
}
