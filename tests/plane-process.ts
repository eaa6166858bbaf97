import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, connect, loadKubeconfig } from '@castellan/client';
import { realWorld, waitFor } from '@castellan/world';
import { assertNothingLeft, type MachineState, machineState } from './machine-state.js';

export const world = realWorld();
export const repository = fileURLToPath(new URL('../..', import.meta.url));
export const castellanProgram = join(repository, 'bin/castellan');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whom a program runs as; tests that say so are run by root. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Runs a program to its end; `input` goes to its standard input. Ends it after `deadlineMs`. */
export function run(
  program: string,
  args: readonly string[],
  options: {
    readonly input?: string;
    readonly deadlineMs?: number;
    readonly env?: NodeJS.ProcessEnv;
    readonly user?: User;
    readonly directory?: string;
  } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      {
        encoding: 'utf8',
        timeout: options.deadlineMs ?? 60_000,
        maxBuffer: 64 * 1024 * 1024,
        env: { ...process.env, ...options.env },
        ...(options.directory !== undefined && { cwd: options.directory }),
        ...options.user,
      },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
    // A program that ends before it has read its input is judged by its exit code, not by the broken pipe.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}

/** The CLI as a person calls it. */
export function castellan(args: readonly string[], options?: Parameters<typeof run>[2]): Promise<Finished> {
  return run(process.execPath, [castellanProgram, ...args], options);
}

/** A `castellan up` in a data directory of its own, as a process that can be killed and started again. */
export class PlaneProcess {
  readonly directory: string;
  readonly #before: MachineState;
  readonly #user: User | undefined;
  #child: ChildProcess | undefined;
  #output = '';
  #client: Client | undefined;

  private constructor(directory: string, user?: User) {
    this.directory = directory;
    this.#user = user;
    this.#before = machineState(directory);
  }

  static async create(user?: User): Promise<PlaneProcess> {
    const directory = await mkdtemp(join(tmpdir(), 'castellan-test-'));
    if (user !== undefined) await chown(directory, user.uid, user.gid);
    return new PlaneProcess(directory, user);
  }

  /** In a directory that the caller made, and removes. */
  static async createIn(directory: string): Promise<PlaneProcess> {
    await mkdir(directory, { recursive: true });
    return new PlaneProcess(directory);
  }

  get kubeconfig(): string {
    return join(this.directory, 'kubeconfig');
  }

  get pid(): number {
    const pid = this.#child?.pid;
    assert.ok(pid !== undefined, 'the plane is not running');
    return pid;
  }

  get output(): string {
    return this.#output;
  }

  /** Starts `castellan up` in the foreground and waits until its API server answers. */
  async up(args: readonly string[] = []): Promise<void> {
    await rm(this.kubeconfig, { force: true });
    const child = spawn(
      process.execPath,
      [castellanProgram, 'up', '--data-dir', this.directory, '--port', '0', ...args],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        ...this.#user,
      },
    );
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        this.#output += text;
      });
    }
    await waitFor(world, () => child.exitCode !== null || existsSync(this.kubeconfig), {
      what: `${this.kubeconfig} to be written`,
      deadlineMs: 60_000,
      everyMs: 10,
    });
    assert.equal(child.exitCode, null, `castellan up ended at once:\n${this.#output}`);
    await waitFor(world, async () => (await this.read('/readyz').catch(() => undefined))?.status === 200, {
      what: '/readyz to be 200',
      deadlineMs: 60_000,
      everyMs: 20,
    });
  }

  async client(): Promise<Client> {
    this.#client ??= connect(await loadKubeconfig(this.kubeconfig), { world });
    return this.#client;
  }

  /** As a power cut would: no handler of ours runs. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** As Ctrl-C. Resolves with the exit code. */
  async interrupt(): Promise<number | null> {
    return await this.#end('SIGINT');
  }

  /**
   * `castellan down`, then asserts that nothing is left on the machine, then removes the data directory. A process that does
   * not end when it is asked to is killed: it would keep the test's process from ending.
   */
  async remove(): Promise<void> {
    try {
      await this.#client?.close();
      if (this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null)
        await this.interrupt();
    } finally {
      this.#child?.kill('SIGKILL');
      const asUser = this.#user === undefined ? {} : { user: this.#user };
      const down = await castellan(['down', '--data-dir', this.directory], asUser);
      assert.equal(down.code, 0, `castellan down failed:\n${down.stdout}${down.stderr}`);
    }
    this.assertNothingLeft();
    await rm(this.directory, { recursive: true, force: true });
  }

  assertNothingLeft(): void {
    assertNothingLeft(this.directory, this.#before, machineState(this.directory));
  }

  /** Applies a manifest as a person does, and fails with what the command printed. */
  async apply(manifest: { readonly file: string } | { readonly text: string }): Promise<void> {
    const file = 'file' in manifest ? manifest.file : '-';
    const input = 'text' in manifest ? { input: manifest.text } : {};
    const applied = await castellan(['apply', '-f', file, '--data-dir', this.directory], input);
    assert.equal(applied.code, 0, applied.stdout + applied.stderr);
  }

  async kubectl(
    args: readonly string[],
    options: { readonly program?: string; readonly input?: string } = {},
  ): Promise<Finished> {
    return await run(options.program ?? 'kubectl', ['--kubeconfig', this.kubeconfig, ...args], {
      ...(options.input === undefined ? {} : { input: options.input }),
      env: { HOME: this.directory },
    });
  }

  async log(): Promise<string> {
    return await readFile(join(this.directory, 'castellan.log'), 'utf8').catch(() => this.#output);
  }

  /** What the API server answers at a path, as text. */
  async read(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const reply = await (await this.client()).request({ method: 'GET', path });
    const chunks: Uint8Array[] = [];
    for await (const chunk of reply.body) chunks.push(chunk);
    return { status: reply.status, text: Buffer.concat(chunks).toString('utf8') };
  }

  /** Waits until the process that `up` started has ended, whoever ended it. Resolves with the exit code. */
  async ended(): Promise<number | null> {
    const child = this.#child;
    assert.ok(child !== undefined, 'the plane was never started');
    await this.#client?.close();
    this.#client = undefined;
    await waitFor(world, () => child.exitCode !== null || child.signalCode !== null, {
      what: `castellan up (pid ${child.pid}) to end`,
      deadlineMs: 60_000,
      everyMs: 10,
    });
    return child.exitCode;
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child?.kill(signal);
    return await this.ended();
  }
}
