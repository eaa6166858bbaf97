import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectExit, withDataDirectory } from './command-line.js';

const planeOnly = ['--port', '0', '--no-node', '--operators', 'none'];
const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "1"}\n';

function parsed(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? { ...value } : assert.fail(text);
}

test('up --detach returns when the plane is ready; a second up changes nothing; down stops it, twice is no error', async () => {
  await withDataDirectory(async (directory) => {
    const at = ['--data-dir', directory];
    const first = await expectExit(0, ['up', '--detach', ...planeOnly, ...at, '--output', 'json']);
    const { url, kubeconfig, isNew } = parsed(first.stdout);
    assert.equal(isNew, true);
    assert.ok((await readFile(String(kubeconfig), 'utf8')).includes(String(url)));
    assert.equal((await expectExit(0, ['kubeconfig', ...at])).stdout, await readFile(String(kubeconfig), 'utf8'));

    const second = await expectExit(0, ['up', '--detach', ...planeOnly, ...at, '--output', 'json']);
    assert.deepEqual([parsed(second.stdout).url, parsed(second.stdout).isNew], [url, false]);

    const { plane } = parsed((await expectExit(0, ['status', ...at, '-o', 'json'])).stdout);
    assert.ok(typeof plane === 'object' && plane !== null && 'isReady' in plane && plane.isReady === true);

    assert.match((await expectExit(0, ['down', ...at])).stdout, /stopped the plane/);
    assert.match((await expectExit(0, ['down', ...at])).stdout, /no plane was running/);
    assert.match((await expectExit(3, ['status', ...at])).stderr, /No plane runs here/);
  });
});

test('apply creates, changes and leaves alone, as kubectl says it; objects are there after a restart', async () => {
  await withDataDirectory(async (directory) => {
    const at = ['--data-dir', directory];
    const apply = ['apply', '-f', '-', ...at];
    await expectExit(0, ['up', '--detach', ...planeOnly, ...at]);
    assert.equal((await expectExit(0, apply, configMap)).stdout, 'configmap/a created\n');
    assert.equal((await expectExit(0, apply, configMap)).stdout, 'configmap/a unchanged\n');
    assert.equal((await expectExit(0, apply, configMap.replace('"1"', '"2"'))).stdout, 'configmap/a configured\n');
    await expectExit(0, ['down', ...at]);
    await expectExit(0, ['up', '--detach', ...planeOnly, ...at]);
    assert.equal((await expectExit(0, apply, configMap.replace('"1"', '"2"'))).stdout, 'configmap/a unchanged\n');
  });
});

test('apply goes on after a refused object, and fails with one line per field', async () => {
  await withDataDirectory(async (directory) => {
    const at = ['--data-dir', directory];
    await expectExit(0, ['up', '--detach', ...planeOnly, ...at]);
    const bad = configMap.replace('name: a', 'name: Not_a_name');
    const { stdout, stderr } = await expectExit(1, ['apply', '-f', '-', ...at], `${bad}---\n${configMap}`);
    assert.equal(stdout, 'configmap/a created\n');
    assert.match(stderr, /ConfigMap "Not_a_name" was refused:\n {2}metadata\.name: /);
    const unknown = await expectExit(
      3,
      ['apply', '-f', '-', ...at],
      configMap.replace('kind: ConfigMap', 'kind: Sparrow'),
    );
    assert.match(unknown.stderr, /knows no Sparrow of v1; v1 has .*ConfigMap/);
  });
});

test('a plane that was killed is gone for down and up, and its objects are not', async () => {
  await withDataDirectory(async (directory) => {
    const at = ['--data-dir', directory];
    await expectExit(0, ['up', '--detach', ...planeOnly, ...at]);
    await expectExit(0, ['apply', '-f', '-', ...at], configMap);
    const { pid } = parsed(await readFile(join(directory, 'castellan.pid'), 'utf8'));
    process.kill(Number(pid), 'SIGKILL');
    const again = await expectExit(0, ['up', '--detach', ...planeOnly, ...at, '-o', 'json']);
    assert.equal(parsed(again.stdout).isNew, true);
    assert.equal((await expectExit(0, ['apply', '-f', '-', ...at], configMap)).stdout, 'configmap/a unchanged\n');
  });
});

test('a port in use is named, in the foreground and detached, with what to do', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  try {
    await withDataDirectory(async (directory) => {
      for (const detach of [[], ['--detach']]) {
        const args = ['up', ...detach, '--port', String(address.port), '--no-node', '--data-dir', directory];
        const { stderr } = await expectExit(7, args);
        assert.match(stderr, new RegExp(`port ${address.port} .*in use`));
        assert.match(stderr, /--port N/);
      }
    });
  } finally {
    server.close();
  }
});

test('a data directory that cannot be one is named, in the foreground and detached', async () => {
  await withDataDirectory(async (directory) => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    for (const detach of [[], ['--detach']]) {
      const { stderr } = await expectExit(1, ['up', ...detach, '--port', '0', '--data-dir', file]);
      assert.ok(stderr.includes(file), stderr);
      assert.match(stderr, /--data-dir/);
    }
  });
});

test('what this version does not have is refused before anything is started', async () => {
  await withDataDirectory(async (directory) => {
    const up = (...args: readonly string[]) => ['up', ...args, '--data-dir', directory];
    assert.match((await expectExit(2, up('--storage', 'etcd://127.0.0.1'))).stderr, /"127\.0\.0\.1" is not HOST:PORT/);
    assert.match((await expectExit(2, up('--storage', 'floppy'))).stderr, /neither "embedded" nor etcd/);
    assert.match((await expectExit(2, up('--operators', 'etcd,mysql'))).stderr, /no operator is called "mysql"/);
  });
});

test('plan needs no plane: it says so, and shows a new cluster from the first step to the last', async () => {
  await withDataDirectory(async (directory) => {
    const file = join(directory, 'cluster.yaml');
    await mkdir(directory, { recursive: true });
    const manifest =
      'apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: a}\nspec: {size: 3}\n';
    await writeFile(file, manifest);
    const { stdout } = await expectExit(0, ['plan', '-f', file, '--data-dir', directory]);
    assert.match(stdout, /as if none of it existed yet/);
    assert.match(stdout, /1\. create the headless service/);
    assert.match(stdout, /\[3 of 3 voters up, quorum 2\]/);
    assert.match(stdout, /settled: 3 members/);
    const other = await expectExit(2, ['plan', '-f', '-', '--data-dir', directory], configMap);
    assert.match(other.stderr, /No operator here plans for ConfigMap/);
  });
});
