import { CliError } from '../errors.js';

/** etcd's JSON gateway: its path changed with its version; the newest first. */
const prefixes = ['/v3', '/v3beta', '/v3alpha'] as const;
const replyDeadlineMs = 5_000;

/** Writes one key through the member at `clientUrl`; resolves when a quorum has it. */
export async function putKey(clientUrl: string, key: string, value: string): Promise<void> {
  await call(clientUrl, '/kv/put', { key: encode(key), value: encode(value) });
}

/** The value at a key, read with etcd's default, linearizable consistency; `undefined` when the key is not there. */
export async function getKey(clientUrl: string, key: string): Promise<string | undefined> {
  const reply = await call(clientUrl, '/kv/range', { key: encode(key) });
  const found = Array.isArray(reply.kvs) ? reply.kvs[0] : undefined;
  return typeof found?.value === 'string' ? Buffer.from(found.value, 'base64').toString('utf8') : undefined;
}

/** Whether the member at `clientUrl` serves a read that a quorum agrees with. */
export async function canRead(clientUrl: string): Promise<boolean> {
  return await getKey(clientUrl, 'castellan/demo').then(
    () => true,
    () => false,
  );
}

async function call(clientUrl: string, path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
  for (const prefix of prefixes) {
    const reply = await fetch(`${clientUrl}${prefix}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(replyDeadlineMs),
    }).catch((cause) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CliError('NOT_CONNECTED', `etcd at ${clientUrl} did not answer: ${why}.`, { cause });
    });
    if (reply.status === 404) continue;
    const text = await reply.text();
    if (!reply.ok) throw new CliError('NOT_CONNECTED', `etcd at ${clientUrl} refused ${path}: ${text}`);
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  }
  throw new CliError('NOT_CONNECTED', `etcd at ${clientUrl} has no JSON gateway.`);
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
