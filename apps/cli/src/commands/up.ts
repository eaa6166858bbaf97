import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError, toCliError } from '../errors.js';
import { formatSeconds } from '../output/text-reporter.js';
import { type Announce, announceTo } from '../plane/announce.js';
import { readLiveProcessRecord } from '../plane/process-record.js';
import { needsUserNamespace, parseUpOptions, type UpOptions } from '../plane/up-options.js';

export const up: Run = async (context, options) => {
  const upOptions = parseUpOptions(options);
  const running = readLiveProcessRecord(filesIn(context.dataDirectory).processRecord);
  if (running !== undefined) {
    report(context, {
      url: running.url ?? '',
      isNew: false,
      note: `already running (pid ${running.pid}); nothing was changed`,
    });
  } else if (upOptions.isDetached) {
    await upInBackground(context, upOptions);
  } else if (needsUserNamespace(context, upOptions)) {
    return await upInUserNamespace(context, upOptions);
  } else {
    // Inside a user namespace the process outside announces: it has the pipe.
    await upInForeground(context, upOptions, announceTo(context.isInUserNamespace ? undefined : upOptions.announceTo));
  }
  return undefined;
};

async function upInBackground(context: Context, options: UpOptions): Promise<void> {
  const { world } = context;
  const startedMs = world.clock.monotonicNow();
  const { startDetached } = await import('../plane/detach.js');
  const { url } = await startDetached(context, options);
  const took = formatSeconds(world.clock.monotonicNow() - startedMs);
  report(context, { url, isNew: true, note: `ready after ${took}; \`castellan down\` stops it` });
}

async function upInUserNamespace(context: Context, { port, announceTo: pipe, storage }: UpOptions): Promise<number> {
  const announce = announceTo(pipe);
  const { runInUserNamespace } = await import('../plane/user-namespace.js');
  return await announcingFailure(announce, async () => {
    if (storage?.type === 'etcd') throw unreachableFromInside();
    return await runInUserNamespace(context, { port, args: context.commandLine, announce });
  });
}

function unreachableFromInside(): CliError {
  return new CliError(
    'STORAGE_NOT_AVAILABLE',
    "An ordinary user's plane with pods has a network of its own, from which no etcd can be reached.",
    { next: 'add --no-node, or run as root' },
  );
}

async function upInForeground(context: Context, options: UpOptions, announce: Announce): Promise<void> {
  const { reporter, world } = context;
  const startedMs = world.clock.monotonicNow();
  const { servePlane } = await import('../plane/serve.js');
  const { stopPlane, untilStopped } = await import('../plane/lifetime.js');
  const served = await announcingFailure(announce, () =>
    servePlane(context, options, (name, ms) => {
      reporter.phase(name, ms);
      announce({ type: 'phase', name, ms });
    }),
  );
  const { url } = served.plane;
  announce({ type: 'ready', url });
  const took = formatSeconds(world.clock.monotonicNow() - startedMs);
  report(context, { url, isNew: true, note: `ready after ${took}; Ctrl-C stops it and its pods` });
  try {
    await untilStopped(context, served);
    reporter.line('stopping the plane and its pods');
  } finally {
    await stopPlane(world, served);
  }
  reporter.line('stopped; `castellan up` goes on with the same data');
}

async function announcingFailure<T>(announce: Announce, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code = 'START_FAILED', message = String(error), next = '' } = toCliError(error) ?? {};
    announce({ type: 'failed', code, message, next });
    throw error;
  }
}

function report(
  context: Context,
  plane: { readonly url: string; readonly isNew: boolean; readonly note: string },
): void {
  const { kubeconfig, log } = filesIn(context.dataDirectory);
  const { url, isNew, note } = plane;
  context.reporter.result({ url, kubeconfig, log, dataDirectory: context.dataDirectory, isNew }, () =>
    [
      `plane       ${note}`,
      `API server  ${url === '' ? 'starting' : url}`,
      `kubeconfig  ${kubeconfig}`,
      `log         ${log}`,
      `try         kubectl --kubeconfig ${kubeconfig} get pods -A`,
    ].join('\n'),
  );
}
