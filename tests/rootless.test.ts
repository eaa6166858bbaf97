import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { waitFor } from '@castellan/world';
import { memberPods, seedManifest, waitForMembers } from './etcd-instance.js';
import { etcdProcessesOf, processesNaming } from './machine-state.js';
import { castellan, castellanProgram, PlaneProcess, run, type User, world } from './plane-process.js';

/** `nobody`, whom every machine has. */
const user: User = { uid: 65_534, gid: 65_534 };
let plane: PlaneProcess | undefined;
let whyNot: string | undefined;

before(async () => {
  whyNot = await whyNotRootless();
  if (whyNot === undefined) plane = await PlaneProcess.create(user);
});
after(async () => await plane?.remove());

/** What this machine lacks for these tests, which only root can run as another user. */
async function whyNotRootless(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can start a plane as another user';
  const readable = await run('test', ['-r', castellanProgram], { user });
  if (readable.code !== 0) return `an ordinary user cannot read ${castellanProgram}`;
  const namespace = await run('unshare', ['--user', '--map-root-user', '--net', 'true'], { user });
  return namespace.code === 0 ? undefined : `users cannot make user namespaces here: ${namespace.stderr.trim()}`;
}

function started(context: TestContext): PlaneProcess | undefined {
  if (plane === undefined) context.skip(whyNot ?? 'the plane was not made');
  return plane;
}

/** The plane itself; the process that a person started waits for it outside of the user namespace. */
async function pidInside({ directory }: PlaneProcess): Promise<number> {
  const { pid }: { pid: number } = JSON.parse(await readFile(join(directory, 'castellan.pid'), 'utf8'));
  return pid;
}

test('an ordinary user gets a cluster of three members', async (context) => {
  const plane = started(context);
  if (plane === undefined) return;
  await plane.up();
  await plane.apply({ file: seedManifest });
  await waitForMembers(await plane.client(), 3);
  assert.equal(etcdProcessesOf(plane.directory).length, 3);
});

for (const killed of ['the plane', 'the process that waits for it', 'both'] as const) {
  test(`kill -9 of ${killed}: the next start adopts the pods of an ordinary user, and restarts none`, async (context) => {
    const plane = started(context);
    if (plane === undefined) return;
    const before = etcdProcessesOf(plane.directory);
    const inside = await pidInside(plane);
    if (killed !== 'the process that waits for it') process.kill(inside, 'SIGKILL');
    if (killed === 'the plane') await plane.ended();
    else await plane.kill();
    await waitFor(world, () => processesNaming(`up --data-dir ${plane.directory}`).length === 0, {
      what: 'both processes of the plane to be gone',
      deadlineMs: 30_000,
    });
    await plane.up();
    const client = await plane.client();
    await waitForMembers(client, 3, { deadlineMs: 60_000 });
    assert.deepEqual(etcdProcessesOf(plane.directory), before, 'the same etcd processes, by pid');
    const restarts = (await memberPods(client)).map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
    assert.deepEqual(restarts, [0, 0, 0]);
  });
}

test('castellan down ends every process in the user namespace, the one that kept it included', async (context) => {
  const plane = started(context);
  if (plane === undefined) return;
  const namespace = userNamespaceOf(await pidInside(plane));
  assert.ok(namespace !== undefined && processesIn(namespace).length > 4);
  const down = await castellan(['down', '--data-dir', plane.directory], { user });
  assert.equal(down.code, 0, down.stderr);
  assert.deepEqual(processesIn(namespace), []);
});

function processesIn(namespace: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && userNamespaceOf(pid) === namespace);
}

/** `undefined` for a process that has ended, whether or not its parent has asked how. */
function userNamespaceOf(pid: number | string): string | undefined {
  try {
    if (/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return undefined;
    return readlinkSync(`/proc/${pid}/ns/user`);
  } catch {
    return undefined;
  }
}
