import { readFileSync } from 'node:fs';
import { type CommandResult, runCommand } from './command.js';
import type { ContainerProcess } from './container-process.js';
import { type ContainerUser, enterAsUser, rootUser } from './container-user.js';

/**
 * What a container's environment tells the loader holds inside alone: nsenter begins outside, as the plane's user, where
 * it must load nothing that a pod names.
 */
const loaderVariables = /^(?:LD_.*|GCONV_PATH|LOCPATH|NLSPATH)$/;

/** A command to run inside a container that runs: for exec probes and hooks. */
export interface Entry {
  readonly command: readonly string[];
  readonly user?: ContainerUser;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs a command in all namespaces of the container, with the container's environment and rights; fails when it is not
 * running.
 */
export async function runInContainer(container: ContainerProcess, entry: Entry): Promise<CommandResult> {
  const { program, args, environment } = entryCommand(container, entry);
  return await runCommand(program, args, {
    environment,
    deadlineMs: entry.deadlineMs,
    ...(entry.signal === undefined ? {} : { signal: entry.signal }),
  });
}

/** How the machine comes to run a command in the container; fails when that is not running. */
export function entryCommand(
  container: ContainerProcess,
  { command, user }: Pick<Entry, 'command' | 'user'>,
): {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
} {
  const main = container.mainProcess();
  if (main === undefined) throw new Error('the container is not running');
  const { helpers } = container;
  const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--root', '--wd'];
  const all = Object.entries(environmentOf(main.pid));
  const inside = all.filter(([name]) => loaderVariables.test(name)).map(([name, value]) => `${name}=${value}`);
  const words = inside.length === 0 ? command : [...helpers('env'), ...inside, ...command];
  return {
    program: '/usr/bin/nsenter',
    args: ['--target', String(main.pid), ...namespaces, '--', ...enterAsUser(user ?? rootUser, words, helpers)],
    environment: Object.fromEntries(all.filter(([name]) => !loaderVariables.test(name))),
  };
}

/** As the program was started with it. */
function environmentOf(pid: number): Readonly<Record<string, string>> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  return Object.fromEntries(
    entries.map((entry) => {
      const equals = entry.indexOf('=');
      return [entry.slice(0, equals), entry.slice(equals + 1)];
    }),
  );
}
