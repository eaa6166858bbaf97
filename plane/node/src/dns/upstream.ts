import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Clock } from '@castellan/world';
import { frameMessage, readMessages } from './message-stream.js';

/** How a query came, and how its answer will go back: what is truncated for a datagram is whole over TCP. */
export type Transport = 'udp' | 'tcp';

const deadlineMs = 2_000;
/** Beyond it queries for outside names fail at once: pods that flood the name server do not make this process grow. */
const queriesAtOnce = 256;
/** A server that did not answer is asked last for so long. */
const distrustMs = 10_000;
const port = 53;

/** The machine's name servers, to which queries for outside names are passed on. */
export class Upstream {
  readonly #servers: readonly string[];
  readonly #clock: Clock;
  readonly #silentSince = new Map<string, number>();
  #asking = 0;

  /** `servers`: in order, `ADDRESS` or `ADDRESS:PORT`. */
  constructor(servers: readonly string[], clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#servers.length === 0;
  }

  /** The first answer that comes, 2 s for each server; `undefined` when none comes, or too much is asked at once. */
  async ask(query: Buffer, transport: Transport): Promise<Buffer | undefined> {
    if (this.#asking >= queriesAtOnce) return undefined;
    this.#asking += 1;
    try {
      for (const server of this.#inOrder()) {
        const reply = await askServer(query, server, { transport, clock: this.#clock });
        if (reply !== undefined) {
          this.#silentSince.delete(server);
          return reply;
        }
        this.#silentSince.set(server, this.#clock.monotonicNow());
      }
      return undefined;
    } finally {
      this.#asking -= 1;
    }
  }

  #inOrder(): readonly string[] {
    const now = this.#clock.monotonicNow();
    const isSilent = (server: string) => now - (this.#silentSince.get(server) ?? Number.NEGATIVE_INFINITY) < distrustMs;
    return [...this.#servers.filter((server) => !isSilent(server)), ...this.#servers.filter(isSilent)];
  }
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

function askServer(
  query: Buffer,
  server: string,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
): Promise<Buffer | undefined> {
  const [host = '', ownPort] = server.split(':');
  const at = { host, port: ownPort === undefined ? port : Number(ownPort) };
  return new Promise((resolve) => {
    let isOver = false;
    const finish = (reply: Buffer | undefined) => {
      if (isOver) return;
      isOver = true;
      cancel();
      close();
      resolve(reply);
    };
    const cancel = clock.after(deadlineMs, () => finish(undefined));
    // The identifier is the client's own: an answer to something else is not for it.
    const take = (reply: Buffer) => {
      if (reply.length >= 12 && reply.readUInt16BE(0) === query.readUInt16BE(0)) finish(reply);
    };
    const close = transport === 'udp' ? sendDatagram(query, at, take, finish) : sendStream(query, at, take, finish);
  });
}

interface Place {
  readonly host: string;
  readonly port: number;
}

type Take = (reply: Buffer) => void;
type Fail = (nothing: undefined) => void;

function sendDatagram(query: Buffer, { host, port: to }: Place, take: Take, fail: Fail): () => void {
  const socket = createSocket('udp4');
  socket.once('error', () => fail(undefined));
  socket.on('message', take);
  // Connected: datagrams from anyone else never reach us. Without a route to the server there is no connection.
  socket.connect(to, host, (error?: Error) => {
    if (error === undefined || error === null) socket.send(query);
    else fail(undefined);
  });
  return () => socket.close();
}

function sendStream(query: Buffer, place: Place, take: Take, fail: Fail): () => void {
  const socket = connect(place, () => socket.write(frameMessage(query)));
  socket.once('error', () => fail(undefined));
  socket.once('close', () => fail(undefined));
  readMessages(socket, take);
  return () => socket.destroy();
}
