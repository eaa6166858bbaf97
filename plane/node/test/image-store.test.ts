import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ArchiveError } from '../src/image-store/archive-error.js';
import { ImageStore } from '../src/image-store/image-store.js';
import { type LoadOptions, loadArchive } from '../src/image-store/load-archive.js';
import { readTar } from '../src/image-store/tar-reader.js';
import { unpackLayer } from '../src/image-store/unpack-layer.js';
import { parseImageName } from '../src/images/image-name.js';
import { makeImageRoot } from '../src/sandbox/image-root.js';
import {
  configOf,
  digestOf,
  directory,
  dockerArchive,
  hardLink,
  layoutArchive,
  type Member,
  symbolicLink,
  tar,
} from './archives.js';

function scratch(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'castellan-images-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function* chunks(data: Buffer, length = 777): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += length) yield data.subarray(at, at + length);
}

async function unpacked(context: TestContext, ...layers: readonly (readonly Member[])[]): Promise<string> {
  const root = join(scratch(context), 'root');
  mkdirSync(root);
  for (const members of layers) await unpackLayer(chunks(tar(members)), root);
  return root;
}

const zstd = (data: Buffer) => execFileSync('zstd', ['-q', '-c'], { input: data });
const skipWithoutZstd = existsSync('/usr/bin/zstd') ? false : 'zstd is not on this machine';
const options: LoadOptions = { origin: 'archive', nowMs: 1_700_000_000_000 };
const layers = [
  tar([directory('etc'), { path: 'etc/motd', content: 'first\n' }, { path: 'gone', content: 'x' }]),
  tar([{ path: 'etc/motd', content: 'second\n' }, { path: '.wh.gone' }]),
];

function isArchiveError(pattern: RegExp) {
  return (error: unknown) => error instanceof ArchiveError && pattern.test(error.message);
}

for (const format of ['gnu', 'pax', 'ustar'] as const) {
  test(`IM1: what tar packs as ${format} is read: long names, links, modes, sizes and content`, async (context) => {
    const source = scratch(context);
    const deep = join(source, 'd'.repeat(60), format === 'ustar' ? 'short' : `${'n'.repeat(120)}-é`);
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, 'file'), 'x'.repeat(5000), { mode: 0o750 });
    writeFileSync(join(deep, 'empty'), '');
    execFileSync('ln', ['-s', 'file', join(deep, 'soft')]);
    execFileSync('ln', [join(deep, 'file'), join(deep, 'twin')]);
    const packed = execFileSync('tar', ['--format', format, '--sort=name', '-C', source, '-c', '.'], {
      maxBuffer: 1e7,
    });
    const seen: string[] = [];
    for await (const member of readTar(chunks(packed))) {
      let length = 0;
      if (member.type === 'file') for await (const part of member.content()) length += part.length;
      const name = member.path.replace(/^.*\//, '');
      seen.push([name, member.type, member.mode.toString(8), length, member.target.replace(/^.*\//, '')].join(' '));
    }
    const files = seen.filter((line) => /^(empty|file|soft|twin) /.test(line));
    assert.deepEqual(files, [
      'empty file 644 0 ',
      'file file 750 5000 ',
      'soft symbolic link 777 0 file',
      'twin hard link 750 0 file',
    ]);
  });
}

test('IM1: a tar archive that is cut short, or whose header is damaged, is an error', async () => {
  const packed = tar([{ path: 'file', content: 'x'.repeat(2000) }]);
  const read = async (data: Buffer) => {
    for await (const member of readTar(chunks(data))) assert.equal(member.path, 'file');
  };
  await assert.rejects(read(packed.subarray(0, 1500)), isArchiveError(/ends within file/));
  await assert.rejects(read(packed.subarray(0, 100)), isArchiveError(/ends in the middle of a header/));
  const damaged = Buffer.from(packed);
  damaged[3] = 0x41;
  await assert.rejects(read(damaged), isArchiveError(/checksum is wrong/));
});

test('IM2: a layer replaces, adds and hides what is below it; links are links', async (context) => {
  const root = await unpacked(
    context,
    [
      directory('bin'),
      { path: 'bin/tool', content: 'tool', mode: 0o4755 },
      hardLink('bin/twin', 'bin/tool'),
      symbolicLink('sbin', 'bin'),
      directory('cache'),
      { path: 'cache/old', content: 'old' },
      { path: 'plain', content: 'file' },
      directory('tree'),
      { path: 'tree/leaf', content: 'leaf' },
    ],
    [
      directory('cache'),
      { path: 'cache/.wh..wh..opq' },
      { path: 'cache/new', content: 'new' },
      directory('plain'),
      { path: '.wh.tree' },
      { path: 'sbin/added', content: 'through a link' },
    ],
  );
  assert.equal(statSync(join(root, 'bin/tool')).mode & 0o7777, 0o4755);
  assert.equal(statSync(join(root, 'bin/tool')).ino, statSync(join(root, 'bin/twin')).ino);
  assert.equal(readlinkSync(join(root, 'sbin')), 'bin');
  assert.equal(readFileSync(join(root, 'bin/added'), 'utf8'), 'through a link');
  assert.deepEqual(readdirSync(join(root, 'cache')), ['new']);
  assert.ok(statSync(join(root, 'plain')).isDirectory());
  assert.ok(!existsSync(join(root, 'tree')));
});

test('IM3: nothing is written outside of the image, by names, links or links to links', async (context) => {
  const outside = scratch(context);
  writeFileSync(join(outside, 'secret'), 'mine');
  const through = (link: Member) => unpacked(context, [link, { path: 'way/file', content: 'theirs' }]);
  const root = await through(symbolicLink('way', outside));
  assert.equal(readFileSync(join(root, outside, 'file'), 'utf8'), 'theirs');
  const up = await through(symbolicLink('way', '../../../../../../..'));
  assert.equal(readFileSync(join(up, 'file'), 'utf8'), 'theirs');
  for (const path of ['../file', 'a/../../file', '/..']) {
    await assert.rejects(unpacked(context, [{ path, content: 'theirs' }]), isArchiveError(/leads out of the image/));
  }
  await assert.rejects(unpacked(context, [hardLink('twin', '../../secret')]), isArchiveError(/leads out of the image/));
  await assert.rejects(unpacked(context, [hardLink('twin', `${outside}/secret`)]), isArchiveError(/does not have/));
  await assert.rejects(
    unpacked(context, [symbolicLink('a', 'b'), symbolicLink('b', 'a'), { path: 'a/x' }]),
    isArchiveError(/more than 40 links/),
  );
  await unpacked(context, [symbolicLink('way', outside), { path: 'way/.wh.secret' }]);
  assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'mine');
  assert.deepEqual(readdirSync(outside), ['secret']);
});

test('IM4: an archive of docker save is loaded under its names, with what it says of itself', async (context) => {
  const home = scratch(context);
  const archive = join(home, 'web.tar');
  const config = {
    User: '1000',
    Env: ['A=1', 'B=x=y'],
    Entrypoint: ['/web'],
    Cmd: ['serve'],
    WorkingDir: '/srv',
    StopSignal: 'SIGQUIT',
  };
  dockerArchive(archive, { layers, config }, ['example.com/team/web:1', 'web:latest']);
  const store = new ImageStore(home);
  const seen: string[] = [];
  const [loaded] = await loadArchive(store, archive, {
    ...options,
    onProgress: ({ layer, layers: count, bytes, totalBytes }) => seen.push(`${layer}/${count} ${bytes}/${totalBytes}`),
  });
  assert.deepEqual(loaded?.names, ['example.com/team/web:1', 'web:latest']);
  const image = store.find(parseImageName('docker.io/library/web'));
  assert.equal(image?.id, digestOf(configOf({ layers, config })));
  assert.deepEqual(
    store.list().map(({ name }) => name),
    ['docker.io/web:latest', 'example.com/team/web:1'],
  );
  const { user, environment, entrypoint, command, workingDirectory, stopSignal } = image?.config ?? {};
  assert.equal(stopSignal, 'SIGQUIT');
  assert.deepEqual(
    [user, environment, entrypoint, command, workingDirectory],
    ['1000', { A: '1', B: 'x=y' }, ['/web'], ['serve'], '/srv'],
  );
  assert.equal(readFileSync(join(image?.root ?? '', 'etc/motd'), 'utf8'), 'second\n');
  assert.ok(!existsSync(join(image?.root ?? '', 'gone')));
  assert.equal(seen[0], `1/2 0/${image?.bytes}`);
  assert.equal(seen.at(-1), `2/2 ${image?.bytes}/${image?.bytes}`);
});

for (const [kind, pack] of [
  ['gzip', gzipSync],
  ['zstd', zstd],
  ['nothing', (layer: Buffer) => layer],
] as const) {
  const skip = kind === 'zstd' ? skipWithoutZstd : false;
  test(`IM4: an OCI layout whose layers are packed with ${kind} is loaded`, { skip }, async (context) => {
    const home = scratch(context);
    const archive = join(home, 'web.tar');
    layoutArchive(archive, { layers }, { name: 'docker.io/library/web:2', pack });
    await loadArchive(new ImageStore(home), archive, options);
    const image = new ImageStore(home).find(parseImageName('web:2'));
    assert.equal(readFileSync(join(image?.root ?? '', 'etc/motd'), 'utf8'), 'second\n');
  });
  test(`IM4: an archive that is packed with ${kind} as a whole is loaded`, { skip }, async (context) => {
    const home = scratch(context);
    const archive = join(home, 'web.tar');
    dockerArchive(archive, { layers }, ['web:3']);
    writeFileSync(archive, pack(readFileSync(archive)));
    await loadArchive(new ImageStore(home), archive, options);
    assert.notEqual(new ImageStore(home).find(parseImageName('web:3')), undefined);
  });
}

test('IM5: a layer that is not what the image says, a wrong machine, a nameless image and other files are refused', async (context) => {
  const home = scratch(context);
  const archive = join(home, 'web.tar');
  const refused = async (pattern: RegExp) => {
    const store = new ImageStore(home);
    await assert.rejects(loadArchive(store, archive, options), isArchiveError(pattern));
    assert.deepEqual(store.list(), []);
    assert.deepEqual(readdirSync(join(home, 'images')), [], 'nothing is left');
  };
  layoutArchive(archive, { layers }, { name: 'web:4', pack: () => gzipSync(tar([{ path: 'other', content: 'y' }])) });
  await refused(/a layer of the image is damaged: it should be sha256:/);
  layoutArchive(archive, { layers, architecture: 's390x' }, { name: 'web:4' });
  await refused(/has no images; next: make it on or for linux\//);
  dockerArchive(archive, { layers, architecture: 's390x' }, ['web:4']);
  await refused(/the image is for linux\/s390x, and this machine is linux\//);
  dockerArchive(archive, { layers }, []);
  await refused(/does not say what its image is called; next: castellan image load FILE --name/);
  writeFileSync(archive, tar([{ path: 'readme', content: 'hello' }]));
  await refused(/neither manifest.json nor index.json/);
  writeFileSync(archive, 'this is no archive at all, though it is longer than nothing'.repeat(20));
  await refused(/checksum is wrong/);
});

test('IM5: a name may be given; what is there already is only named again', async (context) => {
  const home = scratch(context);
  const archive = join(home, 'web.tar');
  dockerArchive(archive, { layers }, []);
  const store = new ImageStore(home);
  await loadArchive(store, archive, { ...options, name: 'mine:1' });
  const before = store.find(parseImageName('mine:1'));
  const inode = statSync(before?.root ?? '').ino;
  await loadArchive(store, archive, { ...options, name: 'mine:2', nowMs: 1 });
  assert.equal(statSync(store.find(parseImageName('mine:2'))?.root ?? '').ino, inode);
  assert.equal(store.find(parseImageName('mine:1'))?.loadedAtMs, options.nowMs);
});

test('IM6: what a killed process left unfinished is no image, and the next load removes it', async (context) => {
  const home = scratch(context);
  const ended = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
  const left = join(home, 'images', `new-${ended}-0a1b2c3d`);
  mkdirSync(join(left, 'complete/root'), { recursive: true });
  const store = new ImageStore(home);
  assert.deepEqual(store.list(), []);
  const archive = join(home, 'web.tar');
  dockerArchive(archive, { layers }, ['web:5']);
  await loadArchive(store, archive, options);
  assert.ok(!existsSync(left));
  assert.equal(store.list().length, 1);
});

for (const isOverlay of [true, false]) {
  const how = isOverlay ? 'an overlay' : 'a copy, where the kernel has no overlays';
  test(`IM7: a container's root is ${how}: files go where the image's links lead, and never out of it`, async (context) => {
    if (isOverlay && process.getuid?.() !== 0) return context.skip('only root may try overlays');
    const outside = scratch(context);
    const image = await unpacked(context, [
      directory('usr/etc'),
      symbolicLink('etc', 'usr/etc'),
      { path: 'usr/etc/motd', content: 'image' },
      symbolicLink('usr/etc/hosts', join(outside, 'hosts')),
    ]);
    const start = join(scratch(context), 'pods/uid/containers/main/0');
    mkdirSync(start, { recursive: true });
    const content = { files: [{ path: '/etc/hosts', content: 'ours' }], directories: ['/srv/work'] };
    const root = isOverlay
      ? await makeImageRoot(start, image, content)
      : await makeImageRoot(start, image, content, async () => undefined);
    const script = 'cd "$1" && cat usr/etc/hosts etc/motd && ls -d srv/work && echo changed >usr/etc/motd';
    const [program = '/bin/sh', ...args] = [...root.entry, '/bin/sh', '-c', script, 'look', root.path];
    assert.equal(execFileSync(program, args, { encoding: 'utf8' }), 'oursimagesrv/work\n');
    assert.deepEqual(readdirSync(outside), []);
    assert.equal(readFileSync(join(image, 'usr/etc/motd'), 'utf8'), 'image');
    assert.ok(!existsSync(join(image, 'srv')));
  });
}
