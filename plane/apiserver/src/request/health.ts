import type { Exchange } from './exchange.js';
import type { Server } from './server.js';

type Endpoint = 'healthz' | 'livez' | 'readyz';

interface Check {
  readonly name: string;
  readonly of: readonly Endpoint[];
  isGood(server: Server): boolean | Promise<boolean>;
}

/** As kube-apiserver's for etcd. */
const storageDeadlineMs = 2_000;

const everywhere: readonly Endpoint[] = ['healthz', 'livez', 'readyz'];

/** Under the names that kube-apiserver gives them. The storage is called `etcd` whatever it is. */
const checks: readonly Check[] = [
  { name: 'ping', of: everywhere, isGood: () => true },
  { name: 'etcd', of: ['healthz', 'livez'], isGood: isStorageGood },
  { name: 'poststarthook/start-system-namespaces-controller', of: everywhere, isGood: (server) => server.isReady() },
  { name: 'poststarthook/storage-readiness', of: ['readyz'], isGood: isStorageGood },
  {
    name: 'poststarthook/scheduling/bootstrap-system-priority-classes',
    of: everywhere,
    isGood: (server) => server.isReady(),
  },
];

/** The storage answers and can still write. */
async function isStorageGood({ keyspace, world }: Server): Promise<boolean> {
  const ending = new AbortController();
  const tooLate = world.clock.sleep(storageDeadlineMs, ending.signal).then(
    () => false,
    () => false,
  );
  const answers = keyspace.revision().then(
    async () => (await keyspace.status()).failure === undefined,
    () => false,
  );
  return await Promise.race([answers, tooLate]).finally(() => ending.abort());
}

/** `/readyz`, or one of its checks: `/readyz/ping`. The others likewise. */
export async function serveHealth(server: Server, exchange: Exchange, path: string): Promise<void> {
  const [, root = '', ...rest] = path.split('/');
  const own = checks.filter(({ of }) => of.some((endpoint) => endpoint === root));
  if (rest.length === 0) await serveAll(server, exchange, root, own);
  else await serveOne(server, exchange, own, rest.join('/'));
}

async function serveOne(server: Server, { reply }: Exchange, own: readonly Check[], name: string): Promise<void> {
  const check = own.find((candidate) => candidate.name === name);
  if (check === undefined) reply.text(404, '404 page not found\n', plainText);
  else if (await check.isGood(server)) reply.text(200, 'ok', plainText, noSniff);
  else reply.text(500, `internal server error: ${name} failed\n`, plainText, noSniff);
}

async function serveAll(
  server: Server,
  { request, reply }: Exchange,
  root: string,
  own: readonly Check[],
): Promise<void> {
  const excluded = new Set(request.query.getAll('exclude'));
  const results = await Promise.all(
    own.map(async (check) => {
      const isExcluded = excluded.delete(check.name);
      return { name: check.name, isExcluded, isGood: isExcluded || (await check.isGood(server)) };
    }),
  );
  const isGood = results.every((result) => result.isGood);
  const lines = results.map((result) => {
    if (result.isExcluded) return `[+]${result.name} excluded: ok`;
    return result.isGood ? `[+]${result.name} ok` : `[-]${result.name} failed: reason withheld`;
  });
  if (excluded.size > 0) {
    const unknown = [...excluded].sort().map((name) => JSON.stringify(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(', ')}`);
  }
  lines.push(`${root} check ${isGood ? 'passed' : 'failed'}`);
  const isVerbose = request.query.has('verbose') || !isGood;
  reply.text(isGood ? 200 : 500, isVerbose ? `${lines.join('\n')}\n` : 'ok', plainText, noSniff);
}

const plainText = 'text/plain; charset=utf-8';
const noSniff = { 'x-content-type-options': 'nosniff' };
