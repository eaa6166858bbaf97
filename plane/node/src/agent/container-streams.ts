import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { Readable, type Writable } from 'node:stream';
import { StatusError } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { PodWorker, RunningContainer } from '../pods/pod-worker.js';
import { type StreamedProcess, startInContainer } from '../sandbox/container-exec.js';
import { type Output, outputSizes } from '../sandbox/log-files.js';
import { resizeTerminal } from '../sandbox/terminal.js';
import { followOutput } from './container-logs.js';

/** A wish to take part in a container. */
export interface AttachRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly stdin: boolean;
  readonly tty: boolean;
}

export interface ExecRequest extends AttachRequest {
  readonly command: readonly string[];
}

/** Runs a command in a container of the pod. Rejects with kubelet's words when it does not run. */
export async function executeIn(
  worker: PodWorker,
  request: ExecRequest,
  signal: AbortSignal,
): Promise<StreamedProcess> {
  const { run, user } = runningContainer(worker, request.container);
  const { command, stdin, tty } = request;
  const exec = { command, stdin, tty, cgroups: run.record.cgroups, ...(user === undefined ? {} : { user }) };
  return await startInContainer(run.process, exec, signal);
}

/**
 * Joins the container's own program: what it writes from now on, and its input where the manifest gives it one. With a
 * terminal it has one output. Ends with the program.
 */
export function attachTo(
  worker: PodWorker,
  request: AttachRequest,
  { world, signal }: { readonly world: World; readonly signal: AbortSignal },
): StreamedProcess {
  const { run, container } = runningContainer(worker, request.container);
  // Looked at now: what the program answers to the first input must not be missed.
  const from = outputSizes(run.process.directory);
  const source = { directory: run.process.directory, isRunning: () => run.isRunning() };
  const follow = (output: Output) =>
    Readable.from(followOutput(source, output, { from: from[output], world, signal }), { objectMode: false });
  const stdout = follow('stdout');
  const stderr = container.tty === true ? undefined : follow('stderr');
  const ended = new Promise<number>((resolve) => stdout.once('close', () => resolve(0)));
  const stdin = request.stdin && container.stdin === true ? openInput(run.process.inputPath) : undefined;
  if (container.stdinOnce === true) stdin?.once('close', () => run.process.endInput());
  signal.addEventListener('abort', () => stdin?.destroy(), { once: true });
  void ended.then(() => stdin?.destroy());
  return {
    ...(stdin === undefined ? {} : { stdin }),
    stdout,
    ...(stderr === undefined ? {} : { stderr }),
    resize(size) {
      const script = () => run.process.mainProcess()?.pid;
      if (container.tty === true) void resizeTerminal(script, size);
    },
    exitCode: ended,
  };
}

function runningContainer(worker: PodWorker, name: string): RunningContainer {
  const found = worker.running(name);
  if (found?.run.process.mainProcess() === undefined) {
    throw StatusError.of('InternalError', `container not found (${JSON.stringify(name)})`);
  }
  return found;
}

/** A named pipe whose reader may not read: written to without holding up a thread. */
function openInput(path: string): Writable {
  const file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    const input = new Socket({ fd: file, readable: false, writable: true });
    input.on('error', () => input.destroy());
    return input;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
