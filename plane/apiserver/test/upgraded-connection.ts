import { randomBytes } from 'node:crypto';
import { connect } from 'node:tls';
import type { ServerUnderTest } from './server-under-test.js';

/** A connection that has asked for another protocol: what the server answered, and then its bytes. */
export interface UpgradedConnection {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The next so many bytes; fails when they do not come within the deadline. */
  read(count: number): Promise<Buffer>;
  /** Everything until the server ends the connection. */
  rest(): Promise<Buffer>;
  write(bytes: Uint8Array): void;
  close(): void;
}

const deadlineMs = 30_000;

/** Sends the head of a request over HTTP/1.1 and waits for the head of the reply. */
export async function upgrade(
  api: ServerUnderTest,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<UpgradedConnection> {
  const { caCertificate, adminCertificate, adminKey } = api.certificates;
  const { port } = new URL(api.url);
  const socket = connect({
    host: '127.0.0.1',
    port: Number(port),
    ca: caCertificate,
    cert: adminCertificate,
    key: adminKey,
  });
  let received = Buffer.alloc(0);
  let isEnded = false;
  let wake: () => void = () => undefined;
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isEnded = true;
    wake();
  });
  const until = async (what: string, condition: () => boolean) => {
    const end = Date.now() + deadlineMs;
    while (!condition()) {
      if (Date.now() > end)
        throw new Error(`waited ${deadlineMs} ms for ${what}; there is ${received.toString('hex')}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, end - Date.now() + 1);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const take = (count: number) => {
    const taken = received.subarray(0, count);
    received = received.subarray(count);
    return taken;
  };
  const lines = Object.entries({ host: 'localhost', connection: 'Upgrade', ...headers });
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  await until('the head of the reply', () => received.includes('\r\n\r\n') || isEnded);
  const head = take(received.indexOf('\r\n\r\n') + 4).toString('latin1');
  const [first = '', ...fields] = head.trimEnd().split('\r\n');
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(fields.map((line) => line.split(/: (.*)/s).slice(0, 2))),
    async read(count) {
      await until(`${count} bytes`, () => received.length >= count || isEnded);
      return take(count);
    },
    async rest() {
      await until('the end of the connection', () => isEnded);
      return take(received.length);
    },
    write: (bytes) => void socket.write(bytes),
    close: () => socket.destroy(),
  };
}

export const webSocketHeaders = (protocol: string) => ({
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }),
});

/** A whole message as a client sends it: masked. */
export function clientFrame(opcode: number, payload: Uint8Array, { isFinal = true } = {}): Buffer {
  const mask = randomBytes(4);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  const head = Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | payload.length]);
  if (payload.length > 125) throw new Error('longer frames are not needed by these tests');
  return Buffer.concat([head, mask, masked]);
}
