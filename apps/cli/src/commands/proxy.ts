import { existsSync } from 'node:fs';
import { loadKubeconfig } from '@castellan/client';
import type { Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';
import { openApiProxy } from '../proxy/api-proxy.js';

const defaultPort = 8001;

export const proxy: Run = async ({ dataDirectory, reporter, stopSignal }, options) => {
  const { kubeconfig } = filesIn(dataDirectory);
  if (!existsSync(kubeconfig)) {
    throw new CliError('NO_PLANE', `No plane was ever started on ${dataDirectory}: there is no ${kubeconfig}.`);
  }
  const port = typeof options.port === 'number' ? options.port : defaultPort;
  const open = await openApiProxy(await loadKubeconfig(kubeconfig), port).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('PORT_IN_USE', `The proxy cannot listen on 127.0.0.1:${port}: ${why}.`, { cause });
  });
  reporter.line(`API server       ${open.url}`, { url: open.url });
  reporter.line(`a service        ${open.url}/api/v1/namespaces/NAMESPACE/services/NAME:PORT/proxy/`);
  reporter.line('Ctrl-C ends it');
  await new Promise<void>((resolve) => {
    if (stopSignal.aborted) resolve();
    else stopSignal.addEventListener('abort', () => resolve(), { once: true });
  });
  await open.close();
};
