import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wasOutOfMemory } from '../sandbox/cgroups.js';
import type { ContainerProcess, ContainerState } from '../sandbox/container-process.js';
import type { RunEnd, RunFacts } from './container-facts.js';
import { isSuspended, type RunRecord } from './pod-directory.js';

/** Kubernetes keeps at most this much of a termination message. */
const messageLimit = 4096;
const startErrorCode = 128;
const launchers = ['bwrap', 'nsenter', 'setpriv'];
const unknownCode = 137;

/** One start of a container: its record and its process, and how it ended. */
export class ContainerRun {
  readonly record: RunRecord;
  readonly process: ContainerProcess;
  readonly id: string;
  #end: RunEnd | undefined;

  constructor(record: RunRecord, process: ContainerProcess, podUid: string) {
    this.record = record;
    this.process = process;
    this.id = `${podUid}/${record.container}/${record.number}`;
  }

  get logPath(): string {
    return join(this.process.directory, 'log');
  }

  facts(): RunFacts {
    const { image, imageId, startedAtMs, backoffMs } = this.record;
    const end = this.end();
    return { id: this.id, image, imageId, startedAtMs, backoffMs, ...(end === undefined ? {} : { end }) };
  }

  isRunning(): boolean {
    return this.end() === undefined;
  }

  /** Looked up until there is one; an end never changes. */
  end(): RunEnd | undefined {
    if (this.#end === undefined) {
      const state = this.process.state();
      if (state.kind === 'exited') this.#end = this.#endOf(state);
    }
    return this.#end;
  }

  #endOf(state: ContainerState & { readonly kind: 'exited' }): RunEnd {
    const common = { finishedAtMs: state.finishedAtMs, isSuspended: isSuspended(this.process.directory) };
    const { exitCode } = state;
    if (exitCode === undefined) {
      const message = 'the container was gone when the node agent looked: the machine or its supervisor went down';
      return { ...common, exitCode: unknownCode, reason: 'ContainerStatusUnknown', message };
    }
    if (exitCode === 0) return { ...common, exitCode, reason: 'Completed', ...this.#message() };
    const startError = this.#startError();
    if (startError !== undefined) {
      return { ...common, exitCode: startErrorCode, reason: 'StartError', message: startError };
    }
    const reason = wasOutOfMemory(this.record.cgroups) ? 'OOMKilled' : 'Error';
    return { ...common, exitCode, reason, ...this.#message() };
  }

  /** The last word of whoever was to start the program, when it never got to run. */
  #startError(): string | undefined {
    const line = logTail(this.logPath).trimEnd().split('\n').at(-1) ?? '';
    return launchers.some((name) => line.startsWith(`${name}: `)) ? line : undefined;
  }

  #message(): { readonly message?: string } {
    const path = join(this.process.directory, 'termination-log');
    const message = existsSync(path) ? readFileSync(path, 'utf8').slice(0, messageLimit) : '';
    return message === '' ? {} : { message };
  }
}

function logTail(path: string): string {
  return existsSync(path) ? readFileSync(path).subarray(-messageLimit).toString('utf8') : '';
}
