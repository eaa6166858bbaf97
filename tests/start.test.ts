import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@castellan/world';
import { assertNothingLeft, machineState } from './machine-state.js';
import { castellan, castellanProgram, world } from './plane-process.js';

/** What `npm start` runs once the machine is set up, as a process whose output grows. */
class Demo {
  readonly child: ChildProcess;
  output = '';

  /** `prefix`: a command line that runs the command line which follows it. The process ends with the test, if not before. */
  constructor(context: TestContext, args: readonly string[], prefix: readonly string[] = []) {
    const [program = '', ...rest] = [...prefix, process.execPath, castellanProgram, 'demo', '--port', '0', ...args];
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    context.after(() => child.kill('SIGKILL'));
    this.child = child;
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
  }

  async exit(deadlineMs: number): Promise<number | null> {
    await waitFor(world, () => this.child.exitCode !== null || this.child.signalCode !== null, {
      what: () => `castellan demo to end; it printed:\n${this.output}`,
      deadlineMs,
    });
    return this.child.exitCode;
  }

  async shows(text: RegExp, deadlineMs: number): Promise<void> {
    await waitFor(world, () => text.test(this.output) || this.child.exitCode !== null, {
      what: () => `castellan demo to print ${text}; it printed:\n${this.output}`,
      deadlineMs,
    });
    assert.match(this.output, text);
  }
}

/** A data directory, with nothing of it left on the machine after the test, whether that passes or not. */
async function dataDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-test-'));
  context.after(async () => {
    await castellan(['down', '--data-dir', directory]);
    await rm(directory, { recursive: true, force: true });
  });
  return directory;
}

test('--once prints the plan, then progress, then a summary; leaves nothing; exits 0', async (t) => {
  const directory = await dataDirectory(t);
  const before = machineState(directory);
  const demo = new Demo(t, ['--once', '--data-dir', directory]);
  assert.equal(await demo.exit(120_000), 0, demo.output);
  assert.match(demo.output, /plan/i);
  assert.match(demo.output, /3\.2\.13.*3\.4\.23|3\.4\.23.*3\.2\.13/, 'says which version really runs');
  assert.match(demo.output, /leader/);
  assert.match(demo.output, /kubeconfig/);
  assertNothingLeft(directory, before, machineState(directory));
});

test('Ctrl-C stops everything, and a second start resumes the same cluster with its data', async (t) => {
  const directory = await dataDirectory(t);
  const before = machineState(directory);
  for (const pass of ['first', 'second']) {
    const demo = new Demo(t, ['--data-dir', directory]);
    await demo.shows(/Ctrl-C/, 120_000);
    if (pass === 'second') assert.match(demo.output, /resumed/i);
    demo.child.kill('SIGINT');
    await demo.exit(60_000);
    assertNothingLeft(directory, before, machineState(directory));
  }
});

test('Ctrl-C in the middle of a bootstrap leaves nothing, and the next start finishes it', async (t) => {
  const directory = await dataDirectory(t);
  const before = machineState(directory);
  const cut = new Demo(t, ['--data-dir', directory]);
  await cut.shows(/Create the seed/, 60_000);
  cut.child.kill('SIGINT');
  await cut.exit(60_000);
  assert.equal(cut.child.signalCode, null, 'it ended by itself');
  assert.doesNotMatch(cut.output, /There it is/, 'it was still at work');
  assertNothingLeft(directory, before, machineState(directory));
  const whole = new Demo(t, ['--once', '--data-dir', directory]);
  assert.equal(await whole.exit(120_000), 0, whole.output);
  assertNothingLeft(directory, before, machineState(directory));
});

const etcd = '/usr/bin/etcd';
const programs = '/var/cache/castellan/programs';
const cannotHideEtcd = process.getuid?.() !== 0 || !existsSync(etcd);

test('an etcd that cannot be run: --once fails with the object, its reason, its log and what to do next', {
  skip: cannotHideEtcd ? `only root can hide ${etcd} from one process, and it has to be there` : false,
}, async (t) => {
  const directory = await dataDirectory(t);
  const before = machineState(directory);
  const nothing = join(directory, 'nothing');
  await writeFile(nothing, '', { mode: 0o644 });
  const hide = `mount --bind '${nothing}' ${etcd} && { [ ! -d ${programs} ] || mount -t tmpfs none ${programs}; } && exec "$@"`;
  const alone = ['unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c', hide, 'hide'];
  const demo = new Demo(t, ['--once', '--deadline', '6', '--data-dir', directory], alone);
  assert.equal(await demo.exit(60_000), 6, demo.output);
  assert.match(demo.output, /etcdcluster default\/example-etcd-cluster/);
  assert.match(
    demo.output,
    /pod default\/example-etcd-cluster-\w+: CreateContainerError: .*cannot run \/usr\/bin\/etcd/,
  );
  assert.match(demo.output, /the last log lines of pod default\/example-etcd-cluster-\w+:\n\s+\S/);
  assert.match(demo.output, /Next: .*kubectl .* describe pod example-etcd-cluster-/);
  assertNothingLeft(directory, before, machineState(directory));
});
