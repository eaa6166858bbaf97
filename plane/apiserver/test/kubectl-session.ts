import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kubectlProgram } from './kubectl-program.js';
import type { ServerUnderTest } from './server-under-test.js';

/** No command of these tests may take longer; one that does is ended, and its exit code is `null`. */
const deadlineMs = 90_000;

export const withoutKubectl = kubectlProgram('kubectl') === undefined ? 'no kubectl is on this machine' : false;

/**
 * Lines of client-go's own log (`W1121 15:37:40.175753 …`): a watch that its timeout ends within a second may be told of, or
 * kubectl is gone before that.
 */
const ownLog = /^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ .*\n?/gm;

/** What a command says on both of its outputs, without the line's end, and its exit code. */
export interface Said {
  readonly code: number | null;
  readonly output: string;
}

export interface RunningKubectl {
  readonly ended: Promise<Said>;
  /** What it has said when that matches `pattern`; fails when it ends, or the deadline passes, before that. */
  said(pattern: RegExp): Promise<string>;
  stop(): void;
}

/** One kubectl and one server, with a home of their own. */
export interface KubectlSession {
  readonly directory: string;
  /** Writes a file for `-f` and returns its path. */
  file(name: string, text: string): Promise<string>;
  /** `line` is split at its spaces; `more` arguments are taken as they are. */
  run(line: string, more?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Said>;
  start(line: string, more?: readonly string[], env?: Readonly<Record<string, string>>): RunningKubectl;
  /** Runs each line in turn and compares what it says, literally; a refusal (`error: …`) must come with exit code 1. */
  says(lines: readonly (readonly [line: string, said: string | RegExp])[]): Promise<void>;
}

export async function kubectlSession(server: ServerUnderTest, program = 'kubectl'): Promise<KubectlSession> {
  const binary = kubectlProgram(program) ?? '';
  const directory = await mkdtemp(join(server.directory, 'home-'));
  const kubeconfig = join(directory, 'config');
  await writeFile(kubeconfig, server.kubeconfig);
  const start: KubectlSession['start'] = (line, more = [], env = {}) => {
    const child = spawn(binary, [...line.split(' '), ...more], {
      env: { PATH: process.env.PATH, HOME: directory, KUBECONFIG: kubeconfig, ...env },
      timeout: deadlineMs,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let onOutput = () => {};
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        onOutput();
      });
    }
    const ended = new Promise<Said>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, output: output.trimEnd() }));
    });
    const said = (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        onOutput = () => pattern.test(output) && resolve(output);
        onOutput();
        ended.then(() => reject(new Error(`kubectl ${line} ended; it said: ${output}`)), reject);
      });
    return { ended, said, stop: () => void child.kill() };
  };
  const run: KubectlSession['run'] = (line, more, env) => start(line, more, env).ended;
  return {
    directory,
    start,
    run,
    async file(name, text) {
      await writeFile(join(directory, name), text, { mode: 0o755 });
      return join(directory, name);
    },
    async says(lines) {
      for (const [line, expected] of lines) {
        const { code, output: all } = await run(line);
        const output = all.replaceAll(ownLog, '');
        if (typeof expected === 'string') assert.equal(output, expected, line);
        else assert.match(output, expected, line);
        assert.equal(
          code,
          /^(error: |Error from server|The request is invalid)/m.test(output) ? 1 : 0,
          `${line}: ${output}`,
        );
      }
    },
  };
}
