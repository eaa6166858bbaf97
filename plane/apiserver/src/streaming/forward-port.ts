import type { Duplex } from 'node:stream';
import { text } from '../json.js';
import { statusOf } from '../request/reply.js';
import type { Connection } from './connect.js';

/**
 * Joins a client's stream to a port of the pod, both ways, until both sides have ended. What goes wrong is written to
 * `error`, which else ends without a word.
 */
export async function forwardPort(
  { namespace, name, pod, node }: Connection,
  port: number,
  { data, error }: { readonly data: Duplex; readonly error: Duplex },
): Promise<void> {
  const gone = new AbortController();
  data.once('close', () => gone.abort());
  try {
    const socket = await node.connect({ namespace, pod: name, port, at: 'loopback' }, gone.signal);
    await joinBoth(data, socket);
    error.end();
  } catch (failure) {
    const uid = text(pod.metadata.uid) ?? '';
    const message = statusOf(failure).message ?? '';
    const said = message.replace(/^Internal error occurred: /, '');
    error.end(`error forwarding port ${port} to pod ${name}, uid ${uid}: ${said}`, () => data.destroy());
  }
}

/** Each side's end is passed on as it comes; a side that breaks off breaks the other. */
async function joinBoth(data: Duplex, socket: Duplex): Promise<void> {
  data.pipe(socket);
  socket.pipe(data);
  socket.on('error', () => data.destroy());
  data.on('close', () => socket.destroy());
  await new Promise<void>((resolve) => socket.once('close', resolve));
  if (!data.writableEnded) data.end();
}
