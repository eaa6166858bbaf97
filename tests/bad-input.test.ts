import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { configMaps } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { clusterKey, etcdClusters, memberPods, readSeedManifest } from './etcd-instance.js';
import { assertNothingLeft, machineState } from './machine-state.js';
import { castellan, PlaneProcess, world } from './plane-process.js';

const hasKubectl = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'kubectl')));
let plane: PlaneProcess;
let seed: string;

before(async () => {
  plane = await PlaneProcess.create();
  seed = await readSeedManifest();
  await plane.up();
});
after(async () => await plane.remove());

const refused = [
  {
    what: 'size 0',
    change: (text: string) => text.replace('size: 3', 'size: 0'),
    says: /spec\.size.*greater than or equal to 1/,
  },
  {
    what: 'size 8',
    change: (text: string) => text.replace('size: 3', 'size: 8'),
    says: /spec\.size.*less than or equal to 7/,
  },
  {
    what: 'size "three"',
    change: (text: string) => text.replace('size: 3', 'size: three'),
    says: /spec\.size.*must be of type integer/,
  },
  { what: 'no size', change: (text: string) => text.replace('size: 3', ''), says: /spec\.size.*Required value/ },
  {
    what: 'a version that is none',
    change: (text: string) => text.replace('"3.2.13"', '"latest"'),
    says: /spec\.version/,
  },
  { what: 'YAML that is not YAML', change: () => 'spec: [unclosed\n  nor: closed', says: /line 2|yaml/i },
];

for (const { what, change, says } of refused) {
  test(`${what} is refused with one error that names it, by castellan apply and by kubectl where it is installed`, async () => {
    const file = join(plane.directory, 'bad.yaml');
    await writeFile(file, change(seed));
    const ours = await castellan(['apply', '-f', file, '--data-dir', plane.directory]);
    assert.notEqual(ours.code, 0);
    assert.match(ours.stderr, says);
    if (hasKubectl) {
      const theirs = await plane.kubectl(['apply', '-f', file]);
      assert.notEqual(theirs.code, 0);
      assert.match(theirs.stderr, says);
    }
    assert.equal(await (await plane.client()).find(etcdClusters, clusterKey), undefined, 'nothing was created');
  });
}

test('an unknown field is named, as kubectl has it checked, and nothing is created', async () => {
  const client = await plane.client();
  const misspelt = { metadata: clusterKey, spec: { size: 3, sise: 4 } };
  await assert.rejects(
    client.create(etcdClusters, misspelt, { fieldValidation: 'Strict' }),
    /unknown field "spec\.sise"/,
  );
  assert.equal(await client.find(etcdClusters, clusterKey), undefined);
});

test('a 60-character name is refused with the limit and the reason', async () => {
  const name = 'a'.repeat(60);
  const manifest = seed.replace('example-etcd-cluster', name);
  const applied = await castellan(['apply', '-f', '-', '--data-dir', plane.directory], { input: manifest });
  assert.notEqual(applied.code, 0);
  assert.match(applied.stderr, /name.*52/);
});

test('without a version the default is used', async () => {
  const instance = { metadata: clusterKey, spec: { size: 3 } };
  const created = await (await plane.client()).create(etcdClusters, instance, { dryRun: true });
  assert.match(created.spec.version ?? '', /^\d+\.\d+\.\d+$/);
});

test('a port in use: one error that names the port and what to do; exit 7; nothing left behind', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-test-'));
  const before = machineState(directory);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const up = await castellan(['up', '--data-dir', directory, '--port', String(address.port)]);
  server.close();
  assert.equal(up.code, 7, up.stderr);
  assert.match(up.stderr, new RegExp(`port ${address.port}`));
  assert.match(up.stderr, /--port/);
  assertNothingLeft(directory, before, machineState(directory));
  await rm(directory, { recursive: true, force: true });
});

test('etcd missing on the machine: the pod says which package to install, and the instance says which pod', async () => {
  const lonely = await PlaneProcess.create();
  try {
    await lonely.up();
    const client = await lonely.client();
    // An engine that this machine has no program for stands for one that was never installed.
    const input = seed.replace('version: "3.2.13"', 'version: "3.2.13"\n  repository: example.invalid/no-such-etcd');
    await lonely.apply({ text: input });
    const message = await waitFor(
      world,
      async () => (await memberPods(client))[0]?.status?.containerStatuses?.[0]?.state?.waiting?.message,
      { what: 'the pod to say why it waits', deadlineMs: 60_000 },
    );
    assert.match(message, /no-such-etcd/);
    const reason = await waitFor(
      world,
      async () => {
        const status = (await client.get(etcdClusters, clusterKey)).status?.reason;
        return status !== undefined && /no-such-etcd|image/i.test(status) ? status : undefined;
      },
      { what: 'the instance to name the image in its reason', deadlineMs: 60_000 },
    );
    assert.match(reason, /example-etcd-cluster-/);
  } finally {
    await lonely.remove();
  }
});

const isRoot = process.getuid?.() === 0;
test('a full disk: writes fail with a clear error, nothing acknowledged is lost, and space makes it work again', {
  skip: isRoot ? false : 'mounting a small tmpfs needs root',
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'castellan-full', directory]);
  let full: PlaneProcess | undefined;
  const acknowledged: string[] = [];
  try {
    full = await PlaneProcess.createIn(join(directory, 'data'));
    await full.up(['--no-node', '--operators', 'none']);
    let client = await full.client();
    let failure = '';
    for (let number = 0; failure === '' && number < 400; number += 1) {
      const name = `fills-${number}`;
      try {
        await client.create(configMaps, {
          metadata: { namespace: 'default', name },
          data: { payload: 'x'.repeat(200_000) },
        });
        acknowledged.push(name);
      } catch (error) {
        failure = String(error);
      }
    }
    assert.match(failure, /disk|space|ENOSPC/i);
    assert.ok(acknowledged.length > 20);
    const readable = await client.list(configMaps, { namespace: 'default' });
    assert.ok(readable.items.length >= acknowledged.length, 'reads go on');
    await full.kill();
    execFileSync('mount', ['-o', 'remount,size=200m', directory]);
    await full.up(['--no-node', '--operators', 'none']);
    client = await full.client();
    const present = new Set(
      (await client.list(configMaps, { namespace: 'default' })).items.map(({ metadata }) => metadata.name),
    );
    assert.deepEqual(
      acknowledged.filter((name) => !present.has(name)),
      [],
    );
    await client.create(configMaps, { metadata: { namespace: 'default', name: 'after' } });
  } finally {
    try {
      await full?.remove();
    } finally {
      execFileSync('umount', [directory]);
      await rm(directory, { recursive: true, force: true });
    }
  }
});

test('a data directory that cannot be written is refused with its path', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-test-'));
  const file = join(directory, 'is-a-file');
  await writeFile(file, '');
  const up = await castellan(['up', '--data-dir', file, '--port', '0']);
  assert.notEqual(up.code, 0);
  assert.ok(up.stderr.includes(file), up.stderr);
  await rm(directory, { recursive: true, force: true });
});
