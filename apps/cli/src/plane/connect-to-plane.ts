import { existsSync } from 'node:fs';
import { type Client, connect, loadKubeconfig } from '@castellan/client';
import type { Context } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';

/** Calls `use` with a client of the data directory's plane and closes it. */
export async function withPlane<T>(context: Context, use: (client: Client) => Promise<T>): Promise<T> {
  const { kubeconfig } = filesIn(context.dataDirectory);
  if (!existsSync(kubeconfig)) {
    throw new CliError('NO_PLANE', `No plane was ever started on ${context.dataDirectory}: there is no ${kubeconfig}.`);
  }
  const client = connect(await loadKubeconfig(kubeconfig), { world: context.world, userAgent: 'castellan' });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** The status and the text of a reply from any path, such as `/readyz` or a pod's log. */
export async function readText(
  client: Client,
  path: string,
  signal?: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const reply = await client.request({ method: 'GET', path, ...(signal === undefined ? {} : { signal }) });
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.body) chunks.push(chunk);
  return { status: reply.status, text: Buffer.concat(chunks).toString('utf8') };
}
