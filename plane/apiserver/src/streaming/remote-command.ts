import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Status, StatusError } from '@castellan/machinery';
import { count, isRecord } from '../json.js';
import { statusOf } from '../request/reply.js';
import type { NodeProcess } from '../server/node-streams.js';
import type { CommandStreams } from './command-streams.js';

/** More than a terminal's size ever takes. */
const resizeLimit = 1024;

/** Joins a client to a process until the process has ended and its output is sent, and then says how it ended. */
export async function runCommand(process: NodeProcess, streams: CommandStreams): Promise<void> {
  if (process.stdin !== undefined && streams.stdin !== undefined) join(streams.stdin, process.stdin);
  if (streams.resize !== undefined) void followResizes(streams.resize, process);
  await Promise.all([passOutput(process.stdout, streams.stdout), passOutput(process.stderr, streams.stderr)]);
  streams.finish(await process.exitCode.then(exitStatus, statusOf));
}

/** A program that stops reading, or a client that goes, ends the stream and nothing else. */
function join(from: Readable, to: Writable): void {
  to.on('error', () => from.resume());
  from.on('error', () => to.end());
  from.on('close', () => to.end());
  from.pipe(to);
}

/** Resolves when everything is passed on, or there is nobody to take it. */
async function passOutput(from: Readable | undefined, to: Writable | undefined): Promise<void> {
  if (from === undefined) {
    to?.end();
    return;
  }
  if (to === undefined || to.destroyed) {
    from.resume();
    await finished(from, { writable: false }).catch(() => undefined);
    return;
  }
  from.on('error', () => to.end());
  to.on('close', () => from.resume());
  from.pipe(to);
  await finished(to, { readable: false }).catch(() => undefined);
}

/** The documents follow each other without a separator, in pieces of any size. */
async function followResizes(source: Readable, process: NodeProcess): Promise<void> {
  let text = '';
  try {
    for await (const chunk of source) {
      text += String(chunk);
      for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}')) {
        const size: unknown = JSON.parse(text.slice(0, end + 1));
        text = text.slice(end + 1);
        const columns = isRecord(size) ? count(size.Width) : undefined;
        const rows = isRecord(size) ? count(size.Height) : undefined;
        if (isSize(columns) && isSize(rows)) process.resize({ columns, rows });
      }
      if (text.length > resizeLimit) return;
    }
  } catch {
    // What is no size changes no size.
  }
}

function isSize(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value > 0 && value <= 0xffff;
}

function exitStatus(code: number): Status {
  if (code === 0) return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

/** A failure to reach the process, as the client reads it from the error stream of a connection that is there. */
export function upgradeFailure(error: unknown): Status {
  const message = `unable to upgrade connection: ${statusOf(error).message ?? ''}`;
  return StatusError.of('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }).status;
}
