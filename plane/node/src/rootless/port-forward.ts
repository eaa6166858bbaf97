import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A listener that passes each connection on; sockets in the file system are reachable from every network namespace. */
export interface Forward {
  close(): Promise<void>;
}

export type Place =
  | { readonly host: string; readonly port: number }
  /** A socket in the file system; at most 107 bytes. */
  | { readonly path: string };

const connectionLimit = 1_024;

/** Listens at `from` and connects each caller to `to`. A socket file that a killed process left is replaced. */
export async function openForward(from: Place, to: Place): Promise<Forward> {
  if ('path' in from) rmSync(from.path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    const target = connect({ ...to, allowHalfOpen: true });
    for (const [socket, other] of [
      [caller, target],
      [target, caller],
    ] as const) {
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.on('error', () => socket.destroy());
      socket.pipe(other);
    }
  });
  server.maxConnections = connectionLimit;
  await listen(server, from);
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function listen(server: Server, at: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, resolve);
  });
}
