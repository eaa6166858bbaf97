import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import type { World } from '@castellan/world';

const deadlineMs = 2_000;

/** Passes a query on to the machine's name servers, in order; `undefined` when none answers in time. */
export async function askUpstream(
  query: Buffer,
  servers: readonly string[],
  world: World,
): Promise<Buffer | undefined> {
  for (const server of servers) {
    const reply = await ask(query, server, world);
    if (reply !== undefined) return reply;
  }
  return undefined;
}

/** The machine's own name servers, IPv4 only. */
export function machineNameServers(path = '/etc/resolv.conf'): readonly string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => /^nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/.exec(line)?.[1] ?? []);
  } catch {
    return [];
  }
}

function ask(query: Buffer, server: string, world: World): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    let isOver = false;
    const finish = (reply: Buffer | undefined) => {
      if (isOver) return;
      isOver = true;
      cancel();
      socket.close();
      resolve(reply);
    };
    const cancel = world.clock.after(deadlineMs, () => finish(undefined));
    socket.once('error', () => finish(undefined));
    socket.on('message', (reply) => {
      // The identifier is the client's own: an answer to something else is not for it.
      if (reply.length >= 2 && reply.readUInt16BE(0) === query.readUInt16BE(0)) finish(reply);
    });
    // Connected: datagrams from anyone else never reach us. Without a route to the server there is no connection.
    socket.connect(53, server, (error?: Error) => {
      if (error === undefined || error === null) socket.send(query);
      else finish(undefined);
    });
  });
}
