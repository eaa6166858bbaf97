import { type ChildProcess, spawn } from 'node:child_process';

/** A program that runs beside a test until it is stopped, and what it has said. */
export class StartedProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #output = '';

  constructor(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const note = (chunk: Buffer) => {
      this.#output += chunk.toString('utf8');
    };
    this.#child.stdout?.on('data', note);
    this.#child.stderr?.on('data', note);
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => resolve());
      this.#child.once('error', (error) => {
        this.#output += String(error);
        resolve();
      });
    });
  }

  /** What it has said so far; the last of it. */
  get output(): string {
    return this.#output.slice(-2_000);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(kill);
  }
}
