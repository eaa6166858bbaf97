import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { toCliError } from '../errors.js';
import { formatSeconds } from '../output/text-reporter.js';
import { announceTo } from '../plane/announce.js';
import { readLiveProcessRecord } from '../plane/process-record.js';
import { parseUpOptions, type UpOptions } from '../plane/up-options.js';

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
  } else {
    await upInForeground(context, upOptions);
  }
};

async function upInBackground(context: Context, options: UpOptions): Promise<void> {
  const { world } = context;
  const startedMs = world.clock.monotonicNow();
  const { startDetached } = await import('../plane/detach.js');
  const { url } = await startDetached(context, options);
  const took = formatSeconds(world.clock.monotonicNow() - startedMs);
  report(context, { url, isNew: true, note: `ready after ${took}; \`castellan down\` stops it` });
}

async function upInForeground(context: Context, options: UpOptions): Promise<void> {
  const { reporter, world } = context;
  const announce = announceTo(options.announceTo);
  const startedMs = world.clock.monotonicNow();
  try {
    const { servePlane } = await import('../plane/serve.js');
    const { stopPlane, untilStopped } = await import('../plane/lifetime.js');
    const served = await servePlane(context, options, (name, ms) => {
      reporter.phase(name, ms);
      announce({ type: 'phase', name, ms });
    });
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
