import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import type { World } from '@castellan/world';
import packet from 'dns-packet';
import type { ClusterZone, ZoneAnswer } from './cluster-zone.js';
import { askUpstream } from './upstream.js';

export interface DnsServerOptions {
  readonly world: World;
  readonly zone: ClusterZone;
  /** The bridge's, so that pods of this plane alone reach it. */
  readonly address: string;
  readonly port?: number;
  /** Name servers of the machine, in order; none makes every outside name a quick REFUSED. */
  readonly upstream: readonly string[];
}

/** Short, so that members that move are found again: peers of etcd and ZooKeeper ask anew at each connection. */
const ttlSeconds = 5;
const udpLimit = 1232;
const connectionLimit = 64;
const idleMs = 10_000;
const truncatedFlag = packet.TRUNCATED_RESPONSE;
const answerFlags = packet.AUTHORITATIVE_ANSWER | packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
const codes = { noError: 0, formatError: 1, nameError: 3, refused: 5 } as const;

/** Cluster DNS over UDP and TCP. Answers from memory; a query never waits for the API server. */
export class DnsServer {
  readonly #options: DnsServerOptions;
  readonly #udp: DatagramSocket;
  readonly #tcp: Server;
  readonly #connections = new Set<Socket>();

  private constructor(options: DnsServerOptions) {
    this.#options = options;
    this.#udp = createSocket('udp4');
    this.#tcp = createServer((socket) => this.#serve(socket));
    this.#tcp.maxConnections = connectionLimit;
  }

  /** Resolves when it listens; rejects when the port is taken. */
  static async listen(options: DnsServerOptions): Promise<DnsServer> {
    const { address, port = 53 } = options;
    try {
      return await DnsServer.#listen(options, { address, port });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `cluster DNS cannot listen on ${address}:${port}: ${why}; next: see who does (ss -lunp sport = :${port}) and let it listen on its own addresses only`,
        { cause: error },
      );
    }
  }

  static async #listen(
    options: DnsServerOptions,
    { address, port }: { readonly address: string; readonly port: number },
  ): Promise<DnsServer> {
    const server = new DnsServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#udp.once('error', reject);
      server.#udp.bind(port, address, resolve);
    });
    server.#udp.removeAllListeners('error');
    // A pod that is gone when its answer comes back makes an error here; nobody waits for it.
    server.#udp.on('error', () => undefined);
    server.#udp.on('message', (query, from) => {
      void server.#reply(query).then((reply) => {
        if (reply !== undefined) server.#udp.send(fitDatagram(reply), from.port, from.address, () => undefined);
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.#tcp.once('error', reject);
      server.#tcp.listen(server.#udp.address().port, address, resolve);
    });
    return server;
  }

  get port(): number {
    return this.#udp.address().port;
  }

  async close(): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    await new Promise<void>((resolve) => this.#udp.close(resolve));
    await new Promise<void>((resolve) => this.#tcp.close(() => resolve()));
  }

  /** Each message comes after its length in two bytes (RFC 1035, 4.2.2). */
  #serve(socket: Socket): void {
    this.#connections.add(socket);
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.once('close', () => this.#connections.delete(socket));
    socket.on('error', () => socket.destroy());
    let pending = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        const query = pending.subarray(2, end);
        pending = pending.subarray(end);
        void this.#reply(query).then((reply) => {
          if (reply === undefined || socket.destroyed) return;
          const length = Buffer.alloc(2);
          length.writeUInt16BE(reply.length);
          socket.write(Buffer.concat([length, reply]));
        });
      }
    });
  }

  /** `undefined` when the message is not even a query. */
  async #reply(query: Buffer): Promise<Buffer | undefined> {
    const decoded = decodeQuery(query);
    if (decoded === undefined) return undefined;
    const question = decoded.questions?.[0];
    if (question === undefined) return encode(decoded, codes.formatError, []);
    const answer = this.#options.zone.answer(question.name, question.type);
    if (answer.kind !== 'outside') return encodeZoneAnswer(decoded, question.name, answer);
    const { upstream, world } = this.#options;
    const outside = await askUpstream(query, upstream, world);
    return outside ?? encode(decoded, codes.refused, []);
  }
}

function encodeZoneAnswer(
  query: packet.Packet,
  name: string,
  answer: Exclude<ZoneAnswer, { kind: 'outside' }>,
): Buffer {
  const ttl = ttlSeconds;
  switch (answer.kind) {
    case 'missing':
      return encode(query, codes.nameError, []);
    case 'empty':
      return encode(query, codes.noError, []);
    case 'addresses':
      return encode(
        query,
        codes.noError,
        answer.addresses.map((data) => ({ type: 'A', name, ttl, data })),
      );
    case 'alias':
      return encode(query, codes.noError, [{ type: 'CNAME', name, ttl, data: answer.target }]);
    case 'pointer':
      return encode(query, codes.noError, [{ type: 'PTR', name, ttl, data: answer.target }]);
    case 'services':
      return encode(
        query,
        codes.noError,
        answer.targets.map(({ target, port }) => ({
          type: 'SRV',
          name,
          ttl,
          data: { target, port, priority: 0, weight: Math.max(1, Math.floor(100 / answer.targets.length)) },
        })),
        answer.targets.map(({ target, address }) => ({ type: 'A', name: target, ttl, data: address })),
      );
  }
}

function encode(
  query: packet.Packet,
  code: number,
  answers: packet.Answer[],
  additionals: packet.Answer[] = [],
): Buffer {
  return packet.encode({
    type: 'response',
    id: query.id ?? 0,
    flags: answerFlags | code,
    questions: query.questions ?? [],
    answers,
    additionals,
  });
}

/** What does not fit a datagram is sent without its records, so that the client asks again over TCP. */
function fitDatagram(reply: Buffer): Buffer {
  if (reply.length <= udpLimit) return reply;
  const { id = 0, flags = 0, questions = [] } = packet.decode(reply);
  return packet.encode({ type: 'response', id, flags: flags | truncatedFlag, questions, answers: [] });
}

function decodeQuery(bytes: Buffer): packet.DecodedPacket | undefined {
  try {
    const query = packet.decode(bytes);
    return query.type === 'query' ? query : undefined;
  } catch {
    return undefined;
  }
}
