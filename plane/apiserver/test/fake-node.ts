import { createServer as createWebServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { StatusError } from '@castellan/machinery';
import type { NodeStreams } from '../src/index.js';

type ExecRequest = Parameters<NodeStreams['execute']>[0];

/**
 * A node whose one container runs the commands of these tests, whose port 7 says everything twice, and whose ports 80 and
 * 8080 speak HTTP.
 */
export interface FakeNode extends NodeStreams {
  readonly asked: ExecRequest[];
  readonly sizes: string[];
  /** Resolves when a command that still ran was killed for want of its client. */
  readonly killed: Promise<void>;
  close(): Promise<void>;
}

export async function fakeNode(): Promise<FakeNode> {
  const asked: ExecRequest[] = [];
  const sizes: string[] = [];
  let kill: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    kill = resolve;
  });
  const open = new Set<Socket>();
  const doubler: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('data', (chunk) => socket.write(Buffer.concat([chunk, chunk])));
    socket.on('end', () => socket.end('bye'));
    socket.on('error', () => undefined);
  });
  // Tells what it was asked; at /moved it leads elsewhere.
  const web = createWebServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method, url, headers } = request;
    if (url === '/moved') response.writeHead(302, { location: '/there' });
    else response.writeHead(method === 'DELETE' ? 418 : 200, { 'content-type': 'text/plain', 'x-own': 'yes' });
    response.end(JSON.stringify({ method, url, body, headers }));
  });
  // After the change of protocol, everything comes back.
  web.on('upgrade', (request, socket) => {
    socket.on('error', () => undefined);
    const head = `Upgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\nX-Url: ${request.url}\r\n`;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${head}\r\nfirst`);
    socket.pipe(socket);
  });
  for (const server of [doubler, web]) {
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
  }
  const [port, webPort] = await Promise.all([listening(doubler), listening(web)]);
  const start = (request: ExecRequest, signal: AbortSignal) => {
    asked.push(request);
    if (request.container !== 'main') throw StatusError.of('InternalError', 'container not found ("other")');
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const [name, code = '0'] = request.command;
    if (name === 'say') {
      stdout.end('out');
      stderr.end('err');
    } else {
      // `cat` and `wait`: until their input ends.
      stdin.pipe(stdout);
      stderr.end();
    }
    const exitCode = new Promise<number>((resolve) => {
      let hasEnded = false;
      stdout.once('end', () => {
        hasEnded = true;
        resolve(Number(code));
      });
      signal.addEventListener('abort', () => {
        if (name === 'wait' && !hasEnded) kill();
        resolve(137);
      });
    });
    return {
      ...(request.stdin ? { stdin } : {}),
      stdout,
      ...(request.tty ? {} : { stderr }),
      resize: ({ columns, rows }: { columns: number; rows: number }) => void sizes.push(`${columns}x${rows}`),
      exitCode,
    };
  };
  return {
    asked,
    sizes,
    killed,
    async *logs() {
      yield Buffer.from('a log\n');
    },
    execute: async (request, signal) => start(request, signal),
    attach: async (request, signal) => start({ ...request, command: ['say'] }, signal),
    async connect(request): Promise<Duplex> {
      if (request.port === 80 || request.port === 8080) return connect({ port: webPort, host: '127.0.0.1' });
      if (request.port !== 7) throw new Error(`dial tcp 127.0.0.1:${request.port}: connect: connection refused`);
      return connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await Promise.all([doubler, web].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
