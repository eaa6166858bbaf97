#!/usr/bin/env node
// The composition root: the only place that reads arguments, environment variables and signals.
import { realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { realWorld } from '@castellan/world';
import { CommanderError } from 'commander';
import { type Context, insideVariable } from './context.js';
import { resolveDataDirectory } from './data-directory.js';
import { exitCodes, toCliError } from './errors.js';
import { jsonReporter } from './output/json-reporter.js';
import type { Reporter, Streams } from './output/reporter.js';
import { textReporter } from './output/text-reporter.js';
import { createProgram, type ParsedCommand } from './program.js';

const version = '0.1.0';

const parentPollMs = 500;

const streams: Streams = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

// A reader that has heard enough (`castellan up | head`) is no failure, and no reason to leave pods behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

if (process.env[insideVariable] !== undefined) endWithParent();
process.exit(await main());

async function main(): Promise<number> {
  const parsed = parseArguments();
  if (typeof parsed === 'number') return parsed;
  const reporter = createReporter(parsed);
  try {
    const run = await parsed.command.load();
    return (await run(createContext(parsed, reporter), parsed.options)) ?? exitCodes.ok;
  } catch (error) {
    return reportFailure(reporter, error);
  }
}

function parseArguments(): ParsedCommand | number {
  let parsed: ParsedCommand | undefined;
  const program = createProgram(version, (command) => {
    parsed = command;
  });
  try {
    program.parse(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    throw error;
  }
  return parsed ?? exitCodes.usage;
}

function createReporter({ options }: ParsedCommand): Reporter {
  if (options.output === 'json') return jsonReporter(streams);
  const { NO_COLOR, FORCE_COLOR } = process.env;
  const isColoured = FORCE_COLOR !== undefined || (process.stdout.isTTY === true && (NO_COLOR ?? '') === '');
  return textReporter(streams, { isColoured });
}

function createContext({ options }: ParsedCommand, reporter: Reporter): Context {
  const dataDir = typeof options.dataDir === 'string' ? options.dataDir : undefined;
  const script = process.argv[1] ?? '';
  return {
    world: realWorld(),
    reporter,
    dataDirectory: resolveDataDirectory(dataDir, process.env, process.cwd()),
    isDataDirectoryChosen: dataDir !== undefined || (process.env.CASTELLAN_HOME ?? '') !== '',
    examplesDirectory: join(dirname(realpathSync(script)), '..', 'examples'),
    stopSignal: stopOnSignals(reporter),
    programName: relative(process.cwd(), script).startsWith('..') ? script : relative(process.cwd(), script),
    self: [process.execPath, script],
    commandLine: process.argv.slice(2),
    isRoot: process.getuid?.() === 0,
    isInUserNamespace: process.env[insideVariable] !== undefined,
    resolvePath: (path) => resolve(process.cwd(), path),
    readStandardInput: () => readText(process.stdin),
  };
}

/** The first Ctrl-C asks the command to stop what it started; the second one does not wait for that. */
function stopOnSignals(reporter: Reporter): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) return controller.abort(new Error(`stopped by ${name}`));
      if (name !== 'SIGINT') return;
      reporter.warn('stopped without waiting; `castellan down` removes what is left');
      process.exit(130);
    });
  }
  return controller.signal;
}

/** The process outside forwards the API server's port: without it nobody reaches us. Pods go on for the next start. */
function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(exitCodes.failed);
  }, parentPollMs).unref();
}

function reportFailure(reporter: Reporter, error: unknown): number {
  const expected = toCliError(error);
  if (expected !== undefined) {
    const { code, exitCode, message, next } = expected;
    reporter.failure({ code, exitCode, message, next });
    return exitCode;
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  reporter.failure({
    code: 'BUG',
    exitCode: exitCodes.failed,
    message: `unexpected: ${message}`,
    next: 'this is a bug of Castellan: please report it with the lines above',
  });
  return exitCodes.failed;
}
