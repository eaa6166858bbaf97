import { wasOutOfMemory } from '../sandbox/cgroups.js';
import type { ContainerProcess, ContainerState } from '../sandbox/container-process.js';
import { outputPath } from '../sandbox/log-files.js';
import type { RunEnd, RunFacts } from './container-facts.js';
import type { GivenResources } from './container-resources.js';
import { isSuspended, type RunRecord } from './pod-directory.js';
import { fileTail, terminationMessage } from './termination-message.js';

/** Whoever could not start the program says so in the log's last line. */
const lastLineBytes = 4096;
const startErrorCode = 128;
const launchers = ['bwrap', 'mount', 'nsenter', 'setpriv', 'unshare'];
const unknownCode = 137;

/** One start of a container: its record and its process, and how it ended. */
export class ContainerRun {
  #record: RunRecord;
  readonly process: ContainerProcess;
  readonly id: string;
  #end: RunEnd | undefined;

  constructor(record: RunRecord, process: ContainerProcess, podUid: string) {
    this.#record = record;
    this.process = process;
    this.id = `${podUid}/${record.container}/${record.number}`;
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** It has been given other resources while it runs. */
  resized(resources: GivenResources): RunRecord {
    this.#record = { ...this.#record, resources };
    return this.#record;
  }

  facts(): RunFacts {
    const { image, imageId, imageUser, resources, startedAtMs, backoffMs } = this.record;
    const end = this.end();
    return {
      id: this.id,
      image,
      imageId,
      ...(imageUser === undefined ? {} : { imageUser }),
      ...(resources === undefined ? {} : { resources }),
      startedAtMs,
      backoffMs,
      ...(end === undefined ? {} : { end }),
    };
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
    if (exitCode === 0) return { ...common, exitCode, reason: 'Completed', ...this.#message(exitCode) };
    const startError = this.#startError();
    if (startError !== undefined) {
      return { ...common, exitCode: startErrorCode, reason: 'StartError', message: startError };
    }
    const reason = wasOutOfMemory(this.record.cgroups) ? 'OOMKilled' : 'Error';
    return { ...common, exitCode, reason, ...this.#message(exitCode) };
  }

  /** The last word of whoever was to start the program, when it never got to run. */
  #startError(): string | undefined {
    const line =
      fileTail(outputPath(this.process.directory, 'stderr'), lastLineBytes).trimEnd().split('\n').at(-1) ?? '';
    return launchers.some((name) => line.startsWith(`${name}: `)) ? line : undefined;
  }

  #message(exitCode: number): { readonly message?: string } {
    const message = terminationMessage({
      directory: this.process.directory,
      fallsBackToLog: exitCode !== 0 && this.record.messageFromLog === true,
    });
    return message === '' ? {} : { message };
  }
}
