import { DeadlineError, waitFor } from '@castellan/world';
import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';
import { isAlive, type ProcessRecord, readLiveProcessRecord, removeProcessRecord } from '../plane/process-record.js';

const stopDeadlineMs = 45_000;
const killDeadlineMs = 5_000;
const pollMs = 20;

/**
 * Asks the plane's process to stop, then removes whatever is left of the plane on this machine: after a `kill -9` that is
 * everything, after an orderly stop nothing. Can be repeated.
 */
export const down: Run = async (context) => {
  const { dataDirectory, reporter } = context;
  const { processRecord } = filesIn(dataDirectory);
  const running = readLiveProcessRecord(processRecord);
  if (running !== undefined) await stopProcess(context, running);
  const { removeUserNamespace, tearDown } = await import('@castellan/embedded');
  // An ordinary user's plane lives in one user namespace, which takes everything with it; root may end it too.
  const removed = removeUserNamespace(dataDirectory).then(() => (context.isRoot ? tearDown(dataDirectory) : undefined));
  await removed.catch((cause) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('STOP_FAILED', `Something of the plane in ${dataDirectory} is left: ${why}`, { cause });
  });
  removeProcessRecord(processRecord);
  const what = running === undefined ? 'no plane was running' : `stopped the plane (pid ${running.pid})`;
  reporter.result({ dataDirectory, wasRunning: running !== undefined }, () =>
    [
      `${what}; no process, namespace, bridge, mount or cgroup of it is left`,
      `its data stays in ${dataDirectory}: \`castellan up\` goes on with it; remove the directory to forget it`,
    ].join('\n'),
  );
};

async function stopProcess({ reporter, world }: Context, running: ProcessRecord): Promise<void> {
  const ended = (deadlineMs: number): Promise<boolean> =>
    waitFor(world, () => !isAlive(running), {
      what: `the plane's process ${running.pid} to end`,
      deadlineMs,
      everyMs: pollMs,
    });
  signal(running, 'SIGTERM');
  try {
    await ended(stopDeadlineMs);
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
    reporter.warn(`${error.message}; ending it at once`);
    signal(running, 'SIGKILL');
    await ended(killDeadlineMs);
  }
}

function signal(running: ProcessRecord, name: NodeJS.Signals): void {
  // The start time was compared a moment ago: this is the plane's process and no other with its number.
  if (isAlive(running)) process.kill(running.pid, name);
}
