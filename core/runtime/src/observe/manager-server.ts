import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { parseKey } from '@castellan/machinery';
import { errorMessage } from '../error-message.js';
import type { Manager } from '../manager/manager.js';
import { explain } from './explain.js';
import { Metrics } from './metrics.js';

/** A check throws, or gives a sentence, when something is wrong. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

export interface ManagerServerOptions {
  readonly managers: () => Iterable<Manager>;
  /** Served under /metrics; without it there are none. */
  readonly metrics?: Metrics;
  /** Beside those of the managers themselves: whether they are alive (/healthz), and whether they work (/readyz). */
  readonly livenessChecks?: Readonly<Record<string, HealthCheck>>;
  readonly readinessChecks?: Readonly<Record<string, HealthCheck>>;
  /** A TCP address, or the path of a Unix socket. Port 0 lets the system choose. */
  readonly listen: { readonly host: string; readonly port: number } | { readonly path: string };
}

export interface ManagerServer {
  /** 0 for a Unix socket. */
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves what people and machines ask a manager: /healthz and /readyz with named checks as controller-runtime has them
 * (`/readyz/NAME`, `?verbose`), /metrics for Prometheus, and /explain?kind=KIND&key=NAMESPACE/NAME for `castellan explain`.
 * It needs no credentials: listen where only those can reach it who may know the names of objects.
 */
export async function serveManagers(options: ManagerServerOptions): Promise<ManagerServer> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      response.writeHead(500, plainText).end(`${errorMessage(error)}\n`);
    });
  });
  await listening(server, options.listen);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const plainText = { 'content-type': 'text/plain; charset=utf-8' } as const;

async function answer(
  options: ManagerServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://manager');
  const [, place = '', name] = url.pathname.split('/');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { ...plainText, allow: 'GET, HEAD' }).end('only GET and HEAD are answered here\n');
  } else if (place === 'healthz' || place === 'readyz') {
    const checks = place === 'healthz' ? livenessChecks(options) : readinessChecks(options);
    const { status, text } = await runChecks(place, checks, name, url.searchParams.has('verbose'));
    response.writeHead(status, plainText).end(text);
  } else if (place === 'metrics' && name === undefined && options.metrics !== undefined) {
    response.writeHead(200, { 'content-type': Metrics.contentType }).end(options.metrics.text());
  } else if (place === 'explain' && name === undefined) {
    const found = explain(options.managers(), url.searchParams.get('kind') ?? '', keyIn(url));
    response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify(found)}\n`);
  } else {
    response.writeHead(404, plainText).end(`there is no ${url.pathname} here: /healthz, /readyz, /metrics, /explain\n`);
  }
}

function keyIn(url: URL) {
  return parseKey(url.searchParams.get('key') ?? '');
}

type Checks = readonly (readonly [name: string, check: HealthCheck])[];

function livenessChecks({ managers, livenessChecks: own = {} }: ManagerServerOptions): Checks {
  const lease = () => [...managers()].map((manager) => manager.health()).find((trouble) => trouble !== undefined);
  return [['ping', () => undefined], ['leader-election', lease], ...Object.entries(own)];
}

function readinessChecks({ managers, readinessChecks: own = {} }: ManagerServerOptions): Checks {
  const caches = () => {
    const isReady = [...managers()].every((manager) => manager.status().isReady);
    return isReady ? undefined : 'the first lists of what is watched are not complete';
  };
  const served = [...managers()].map((manager) => manager.status().areWebhooksReady);
  const webhooks = () =>
    served.includes(false) ? 'reviews are not answered yet: the leader makes certificates' : undefined;
  const isServing = served.some((isReady) => isReady !== undefined);
  return [['caches', caches], ...(isServing ? [['webhooks', webhooks] as const] : []), ...Object.entries(own)];
}

async function runChecks(
  place: string,
  checks: Checks,
  only: string | undefined,
  isVerbose: boolean,
): Promise<{ readonly status: number; readonly text: string }> {
  const chosen = only === undefined ? checks : checks.filter(([name]) => name === only);
  if (chosen.length === 0) return { status: 404, text: `there is no check ${only} of ${place}\n` };
  const lines: string[] = [];
  let isWell = true;
  for (const [name, check] of chosen) {
    const trouble = await Promise.resolve()
      .then(check)
      .catch((error: unknown) => errorMessage(error));
    if (trouble !== undefined) isWell = false;
    lines.push(trouble === undefined ? `[+]${name} ok` : `[-]${name} failed: ${trouble}`);
  }
  if (isWell && !isVerbose) return { status: 200, text: 'ok' };
  return {
    status: isWell ? 200 : 500,
    text: `${lines.join('\n')}\n${place} check ${isWell ? 'passed' : 'failed'}\n`,
  };
}

function listening(server: Server, where: ManagerServerOptions['listen']): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
