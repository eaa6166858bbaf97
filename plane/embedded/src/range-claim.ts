import { createServer } from 'node:net';

export type Release = () => Promise<void>;

/**
 * Takes a range of addresses for this process until it is released; `undefined` when another process of the machine has it.
 * Planes that start in the same moment do not see each other's interfaces yet, but they see this: a socket of the abstract
 * name space (unix(7)), which has no file and is gone with its process, and of which each network namespace has its own.
 * Where the kernel has no such names, nothing is taken and every range is given.
 */
export function claimRange(range: string): Promise<Release | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? undefined : async () => undefined),
    );
    server.listen(`\0castellan-range-${range}`, () => {
      server.unref();
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}
