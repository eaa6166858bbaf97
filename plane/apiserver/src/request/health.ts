import type { Exchange } from './exchange.js';
import type { Server } from './server.js';

interface Check {
  readonly name: string;
  isGood(server: Server): boolean | Promise<boolean>;
}

/** As kube-apiserver's for etcd. */
const storageDeadlineMs = 2_000;

/** What /readyz asks; /healthz and /livez ask only whether the process answers. */
const checks: readonly Check[] = [
  { name: 'ping', isGood: () => true },
  { name: 'system-objects', isGood: (server) => server.isReady() },
  { name: 'etcd', isGood: isStorageGood },
];

/** The storage answers and can still write. It is called `etcd`, as in kube-apiserver, whatever it is. */
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

export async function serveHealth(server: Server, { request, reply }: Exchange, path: string): Promise<void> {
  const [, root = '', only] = path.split('/');
  const excluded = request.query.getAll('exclude');
  const asked = checks.filter(({ name }) => (root === 'readyz' || name === 'ping') && !excluded.includes(name));
  const selected = only === undefined ? asked : asked.filter(({ name }) => name === only);
  if (only !== undefined && selected.length === 0) {
    reply.text(404, '404 page not found\n', 'text/plain; charset=utf-8');
    return;
  }
  const results = await Promise.all(
    selected.map(async (check) => ({ name: check.name, isGood: await check.isGood(server) })),
  );
  const isGood = results.every((result) => result.isGood);
  const lines = results.map((result) =>
    result.isGood ? `[+]${result.name} ok` : `[-]${result.name} failed: reason withheld`,
  );
  const verdict = `${root} check ${isGood ? 'passed' : 'failed'}`;
  const isVerbose = request.query.has('verbose') || !isGood;
  const body = isVerbose ? `${[...lines, verdict].join('\n')}\n` : 'ok';
  reply.text(isGood ? 200 : 500, body, 'text/plain; charset=utf-8', { 'x-content-type-options': 'nosniff' });
}
