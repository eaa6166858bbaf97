import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { waitFor } from '@castellan/world';
import type { Context } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError, type ErrorCode, errorTable } from '../errors.js';
import { type Announcement, parseAnnouncement } from './announce.js';
import { ensureDirectory } from './ensure-directory.js';
import { lastLogLines } from './plane-log.js';
import { probeReady } from './probe-ready.js';
import { formatNodes, formatStorageOptions, type UpOptions } from './up-options.js';

const startDeadlineMs = 30_000;
const readyPollMs = 10;
const shownLogLines = 15;
const announcePipe = 3;

/**
 * Starts `castellan up` as a process of its own and returns its address when `/readyz` is 200. When it ends before that,
 * the error is its own, with the last lines that it logged.
 */
export async function startDetached(context: Context, options: UpOptions): Promise<{ readonly url: string }> {
  const { dataDirectory, reporter, world } = context;
  const files = filesIn(dataDirectory);
  ensureDirectory(dataDirectory);
  const log = openSync(files.log, 'a');
  const [command, ...args] = context.self;
  const child = spawn(command, [...args, ...upArguments(dataDirectory, options)], {
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  });
  const pipe = child.stdio[announcePipe];
  const announcements = pipe instanceof Readable ? createInterface({ input: pipe }) : undefined;
  let ready: string | undefined;
  let failure: CliError | undefined;
  announcements?.on('line', (line) => {
    const announcement = parseAnnouncement(line);
    if (announcement.type === 'phase') reporter.phase(announcement.name, announcement.ms);
    else if (announcement.type === 'ready') ready = announcement.url;
    else failure = failureOf(announcement);
  });
  try {
    const url = await waitFor(
      world,
      async () => {
        if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) {
          throw failure ?? endedEarly(files.log, child.exitCode ?? child.signalCode);
        }
        return ready !== undefined && (await probeReady(ready)) ? ready : undefined;
      },
      {
        what: `the API server to be ready; its log is ${files.log}`,
        deadlineMs: startDeadlineMs,
        everyMs: readyPollMs,
        signal: context.stopSignal,
      },
    );
    return { url };
  } catch (error) {
    child.kill('SIGTERM');
    throw error;
  } finally {
    announcements?.close();
    child.unref();
  }
}

function upArguments(dataDirectory: string, options: UpOptions): readonly string[] {
  const operators = options.operators.length === 0 ? 'none' : options.operators.join(',');
  return [
    'up',
    ...['--data-dir', dataDirectory],
    ...['--port', String(options.port)],
    ...formatStorageOptions(options),
    ...formatNodes(options),
    ...(options.auditLog === undefined ? [] : ['--audit-log', options.auditLog]),
    ...(options.auditPolicyFile === undefined ? [] : ['--audit-policy-file', options.auditPolicyFile]),
    ...(options.tokenAuthFile === undefined ? [] : ['--token-auth-file', options.tokenAuthFile]),
    ...['--operators', operators],
    ...(options.hasNode ? [] : ['--no-node']),
    ...(options.hasControllers ? [] : ['--no-controllers']),
    ...['--announce-to', String(announcePipe)],
  ];
}

function failureOf({ code, message, next }: Extract<Announcement, { readonly type: 'failed' }>): CliError {
  return new CliError(isErrorCode(code) ? code : 'START_FAILED', message, { next });
}

function isErrorCode(code: string): code is ErrorCode {
  return code in errorTable;
}

function endedEarly(log: string, how: number | string | null): CliError {
  const lines = lastLogLines(log, shownLogLines).map((line) => `    ${line}`);
  return new CliError(
    'START_FAILED',
    [`The plane ended (${how}) before it was ready. Its last lines (${log}):`, ...lines].join('\n'),
  );
}
