import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '@castellan/world';
import { assertNothingLeft, machineState } from './machine-state.js';
import { castellanProgram, world } from './plane-process.js';

/** What `npm start` runs once the machine is set up, as a process whose output grows. */
class Demo {
  readonly child: ChildProcess;
  output = '';

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [castellanProgram, 'demo', '--port', '0', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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

test('--once prints the plan, then progress, then a summary; leaves nothing; exits 0', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-test-'));
  const before = machineState(directory);
  const demo = new Demo(['--once', '--data-dir', directory]);
  assert.equal(await demo.exit(120_000), 0, demo.output);
  assert.match(demo.output, /plan/i);
  assert.match(demo.output, /3\.2\.13.*3\.4\.23|3\.4\.23.*3\.2\.13/, 'says which version really runs');
  assert.match(demo.output, /leader/);
  assert.match(demo.output, /kubeconfig/);
  assertNothingLeft(directory, before, machineState(directory));
  await rm(directory, { recursive: true, force: true });
});

test('Ctrl-C stops everything, and a second start resumes the same cluster with its data', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-test-'));
  const before = machineState(directory);
  for (const pass of ['first', 'second']) {
    const demo = new Demo(['--data-dir', directory]);
    await demo.shows(/Ctrl-C/, 120_000);
    if (pass === 'second') assert.match(demo.output, /resumed/i);
    demo.child.kill('SIGINT');
    await demo.exit(60_000);
    assertNothingLeft(directory, before, machineState(directory));
  }
  await rm(directory, { recursive: true, force: true });
});
