import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type KubernetesObject, pods, type ResourceType } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { castellan, type Finished, PlaneProcess, repository, run, world } from './plane-process.js';
import { StartedProgram } from './started-program.js';

/** Projects are made in it. Its node_modules has what `npm install` would bring, without the network. */
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'castellan-new-'));
  const modules = join(directory, 'node_modules');
  const packed = await run(process.execPath, [join(repository, 'scripts/pack.mjs'), '--to', modules]);
  assert.equal(packed.code, 0, packed.stdout + packed.stderr);
  const installed = join(repository, 'node_modules');
  for (const name of await readdir(installed)) {
    if (!/^(\.|@castellan$)/.test(name)) await symlink(join(installed, name), join(modules, name));
  }
});
after(async () => await rm(directory, { recursive: true, force: true }));

async function create(name: string, ...options: readonly string[]): Promise<string> {
  const project = join(directory, `${name}-operator`);
  const made = await castellan(['new', 'operator', name, '--dir', project, ...options]);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /npm install && npm test/);
  return project;
}

async function compile(project: string): Promise<Finished> {
  return await run(process.execPath, [join(repository, 'node_modules/typescript/bin/tsc'), '-p', project]);
}

test('castellan new operator makes a project that compiles, explores, simulates, and passes its tests', async () => {
  const project = await create(
    'my-cache',
    '--group',
    'caches.example.org',
    '--image',
    'cache:2',
    '--container-port',
    '7000',
  );
  const compiled = await compile(project);
  assert.equal(compiled.code, 0, compiled.stdout + compiled.stderr);
  const kind = await readFile(join(project, 'src/kind.ts'), 'utf8');
  assert.match(kind, /group: 'caches\.example\.org'/);
  assert.match(kind, /kind: 'MyCache'/);
  assert.match(kind, /'cache:2'/);
  const files = ['plan', 'explore', 'simulate'].map((name) => join(project, `dist/test/${name}.test.js`));
  // Told that it is within another test, the runner would do nothing.
  const tested = await run(process.execPath, ['--test', ...files], { env: { NODE_TEST_CONTEXT: undefined } });
  assert.equal(tested.code, 0, tested.stdout + tested.stderr);
  assert.match(tested.stdout, /^# pass 7$/m);
  const written = await run(process.execPath, [join(project, 'dist/src/manifests.js')], { directory: project });
  assert.equal(written.code, 0, written.stderr);
  const role = JSON.parse(await readFile(join(project, 'manifests/cluster-role.json'), 'utf8'));
  assert.ok(role.rules.some(({ resources }: { resources: string[] }) => resources[0] === 'mycaches/status'));
  for (const path of ['src/operator.ts', 'package.json', 'manifests/my-cache.yaml', 'test/simulate.test.ts']) {
    assert.doesNotMatch(await readFile(join(project, path), 'utf8'), /memcached/i, `${path} speaks of the example`);
  }
});

test('what cannot be made is refused with what to do, and nothing is written over', async () => {
  const project = join(directory, 'full');
  await mkdir(join(project, 'mine'), { recursive: true });
  const refusals = [
    [['new', 'operator', 'full', '--dir', project], /is not empty.*\n.*--dir/],
    [['new', 'operator', 'Not_A_Name'], /"Not_A_Name" cannot name an operator.*\n.*a–z/],
    [['new', 'cathedral', 'x'], /Nothing is known of a new cathedral/],
  ] as const;
  for (const [args, message] of refusals) {
    const { code, stderr } = await castellan([...args]);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

const noMemcached = existsSync('/usr/bin/memcached') ? false : 'memcached is not on this machine';

test('the operator of the tutorial runs real memcached servers, from npm start to kubectl apply', {
  skip: noMemcached,
}, async (t) => {
  const project = await create('memcached');
  assert.equal((await compile(project)).code, 0);
  const plane = await PlaneProcess.create();
  t.after(() => plane.remove());
  await plane.up();
  const operator = new StartedProgram(process.execPath, [join(project, 'dist/src/main.js')], {
    KUBECONFIG: join(plane.directory, 'kubeconfig'),
    PORT: '0',
  });
  t.after(() => operator.stop());
  const client = await plane.client();
  const memcacheds: ResourceType<KubernetesObject & { readonly status?: { readonly ready?: number } }> = {
    group: 'example.com',
    version: 'v1alpha1',
    kind: 'Memcached',
    plural: 'memcacheds',
    isNamespaced: true,
  };
  const served = () => client.list(memcacheds).catch(() => undefined);
  await waitFor(world, served, { what: () => `the kind; the operator said ${operator.output}`, deadlineMs: 30_000 });
  await plane.apply({ file: join(project, 'manifests/memcached.yaml') });
  const isReady = async () => {
    const { items } = await client.list(pods, { namespace: 'default', labelSelector: 'app=demo' });
    const ready = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True'),
    );
    return ready.length === 3 ? ready : undefined;
  };
  const ready = await waitFor(world, isReady, {
    what: () => `three ready pods; the operator said ${operator.output}`,
    deadlineMs: 60_000,
  });
  assert.deepEqual(ready.map(({ metadata }) => metadata.name).toSorted(), ['demo-0', 'demo-1', 'demo-2']);
  assert.match(ready[0]?.status?.containerStatuses?.[0]?.imageID ?? '', /usr\/bin\/memcached@1\./);
});
