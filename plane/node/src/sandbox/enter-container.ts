import { capabilities } from './capabilities.js';
import { type CommandResult, runCommand } from './command.js';
import { asUser, type ContainerProcess, type ContainerUser } from './container-process.js';

/** A command to run inside a container that runs: for exec probes and hooks. */
export interface Entry {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly user?: ContainerUser;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** Runs a command in all namespaces of the container, with the container's own rights; fails when it is not running. */
export async function runInContainer(container: ContainerProcess, entry: Entry): Promise<CommandResult> {
  const main = container.mainProcess();
  if (main === undefined) throw new Error('the container is not running');
  const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--root', '--wd'];
  const kept = capabilities.map((name) => `+${name.slice('CAP_'.length).toLowerCase()}`).join(',');
  const reduced = ['/usr/bin/setpriv', '--no-new-privs', `--bounding-set=-all,${kept}`, '--inh-caps=-all', '--'];
  return await runCommand(
    'nsenter',
    ['--target', String(main.pid), ...namespaces, '--', ...reduced, ...asUser(entry.user, entry.command)],
    {
      environment: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...entry.environment },
      deadlineMs: entry.deadlineMs,
      ...(entry.signal === undefined ? {} : { signal: entry.signal }),
    },
  );
}
