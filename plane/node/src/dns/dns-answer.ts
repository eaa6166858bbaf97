import packet from 'dns-packet';
import type { ClusterZone, ZoneAnswer } from './cluster-zone.js';
import type { Transport, Upstream } from './upstream.js';

export interface DnsNames {
  readonly zone: ClusterZone;
  readonly upstream: Upstream;
}

/** Short, so that members that move are found again: peers of etcd and ZooKeeper ask anew at each connection. */
const ttlSeconds = 5;
const headerBytes = 12;
/** What every client takes (RFC 1035), and what we send at most to one that takes more: such datagrams pass unbroken everywhere. */
const datagramBytes = { least: 512, most: 1_232 } as const;
const streamBytes = 65_535;
/** Aliases that lead to aliases. */
const aliasLimit = 8;
const codes = { noError: 0, formatError: 1, serverFailure: 2, nameError: 3, notImplemented: 4, refused: 5 } as const;
/** BADVERS of RFC 6891 is 16: the lower four bits are in the header, the upper in the OPT record. */
const badVersion = { extendedRcode: 1 } as const;
const opcodeMask = 0x7800;

interface Reply {
  readonly code: number;
  readonly answers?: readonly packet.Answer[];
  readonly additionals?: readonly packet.Answer[];
  /** Ours to say: with what the client needs to remember that there is nothing. */
  readonly isAuthoritative?: boolean;
}

/** The answer to a message; `undefined` when it is not even a query. Never rejects. */
export async function answerQuery(message: Buffer, transport: Transport, names: DnsNames): Promise<Buffer | undefined> {
  if (message.length < headerBytes || (message.readUInt16BE(2) & 0x8000) !== 0) return undefined;
  const query = decoded(message);
  if (query === undefined) return bareReply(message, codes.formatError);
  try {
    return await answer(message, query, { transport, names });
  } catch {
    // A name that can be read and not written, say.
    return bareReply(message, codes.serverFailure);
  }
}

async function answer(message: Buffer, query: packet.Packet, context: Context): Promise<Buffer> {
  const { names, transport } = context;
  if (((query.flags ?? 0) & opcodeMask) !== 0) return encodeReply(query, { code: codes.notImplemented }, context);
  const [question, ...others] = query.questions ?? [];
  if (question === undefined || others.length > 0) return encodeReply(query, { code: codes.formatError }, context);
  if ((optionsOf(query)?.ednsVersion ?? 0) > 0) return encodeReply(query, { code: codes.noError }, context);
  if (question.type === 'AXFR' || question.type === 'IXFR') return encodeReply(query, { code: codes.refused }, context);
  const known = names.zone.answer(question.name, question.type);
  if (known.kind !== 'outside') return encodeReply(query, await replyOf(question, known, context), context);
  if (names.upstream.isEmpty) return encodeReply(query, { code: codes.refused }, context);
  return (await names.upstream.ask(message, transport)) ?? encodeReply(query, { code: codes.serverFailure }, context);
}

/** The header alone: of a message that cannot be quoted. */
function bareReply(message: Buffer, code: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(message.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8000 | packet.RECURSION_AVAILABLE | code, 2);
  return header;
}

interface Context {
  readonly transport: Transport;
  readonly names: DnsNames;
}

async function replyOf(
  { name, type }: packet.Question,
  answer: Exclude<ZoneAnswer, { kind: 'outside' }>,
  context: Context,
): Promise<Reply> {
  const ttl = ttlSeconds;
  const ours = { code: codes.noError, isAuthoritative: true };
  switch (answer.kind) {
    case 'missing':
      return { code: codes.nameError, isAuthoritative: true };
    case 'empty':
      return ours;
    case 'addresses':
      return { ...ours, answers: answer.addresses.map((data) => ({ type: 'A', name, ttl, data })) };
    case 'alias':
      return await followAlias({ name, type }, answer.target, context);
    case 'pointer':
      return { ...ours, answers: [{ type: 'PTR', name, ttl, data: answer.target }] };
    case 'text':
      return { ...ours, answers: [{ type: 'TXT', name, ttl, data: answer.text }] };
    case 'authority':
      return { ...ours, answers: [authorityRecord(context.names.zone.domain)] };
    case 'services':
      return {
        ...ours,
        answers: answer.targets.map(({ target, port }) => ({
          type: 'SRV',
          name,
          ttl,
          data: { target, port, priority: 0, weight: Math.max(1, Math.floor(100 / answer.targets.length)) },
        })),
        additionals: answer.targets.map(({ target, address }) => ({ type: 'A', name: target, ttl, data: address })),
      };
  }
}

/** A stub resolver does not follow an alias itself: what it leads to goes along, ours or the machine's name servers'. */
async function followAlias(question: packet.Question, first: string, context: Context): Promise<Reply> {
  const { zone, upstream } = context.names;
  const answers: packet.Answer[] = [];
  let name = question.name;
  let target = first;
  for (let count = 0; count < aliasLimit; count += 1) {
    answers.push({ type: 'CNAME', name, ttl: ttlSeconds, data: target });
    const reply = { code: codes.noError, answers, isAuthoritative: true };
    if (question.type === 'CNAME') return reply;
    const next = zone.answer(target, question.type);
    if (next.kind === 'alias') {
      name = target;
      target = next.target;
      continue;
    }
    if (next.kind !== 'outside') {
      const rest = await replyOf({ ...question, name: target }, next, context);
      return { ...rest, answers: [...answers, ...(rest.answers ?? [])] };
    }
    if (upstream.isEmpty) return reply;
    const outside = await askFor({ ...question, name: target }, context);
    return outside === undefined
      ? { code: codes.serverFailure }
      : { ...outside, answers: [...answers, ...(outside.answers ?? [])] };
  }
  return { code: codes.serverFailure };
}

async function askFor(question: packet.Question, { transport, names }: Context): Promise<Reply | undefined> {
  const query = packet.encode({ type: 'query', id: 0, flags: packet.RECURSION_DESIRED, questions: [question] });
  const bytes = await names.upstream.ask(query, transport);
  const reply = bytes === undefined ? undefined : decoded(bytes);
  return reply === undefined ? undefined : { code: (reply.flags ?? 0) & 0xf, answers: reply.answers ?? [] };
}

type Asked = Pick<packet.Packet, 'id' | 'flags' | 'questions' | 'additionals'>;

/** What does not fit is sent without its records and marked so, for the client to ask again over TCP. */
function encodeReply(query: Asked, reply: Reply, { transport, names }: Context): Buffer {
  const { code, answers = [], additionals = [], isAuthoritative = false } = reply;
  const options = optionsOf(query);
  const isBadVersion = (options?.ednsVersion ?? 0) > 0;
  const own = options === undefined ? [] : [optionsRecord(isBadVersion ? badVersion.extendedRcode : 0)];
  const flags =
    code |
    (isAuthoritative ? packet.AUTHORITATIVE_ANSWER : 0) |
    packet.RECURSION_AVAILABLE |
    ((query.flags ?? 0) & packet.RECURSION_DESIRED);
  const whole: packet.Packet = {
    type: 'response',
    id: query.id ?? 0,
    flags,
    questions: query.questions ?? [],
    answers: [...answers],
    authorities: isAuthoritative && answers.length === 0 ? [authorityRecord(names.zone.domain)] : [],
    additionals: [...additionals, ...own],
  };
  const limit = transport === 'tcp' ? streamBytes : datagramLimit(options);
  const bytes = packet.encode(whole);
  if (bytes.length <= limit) return bytes;
  const bare = packet.encode({ ...whole, additionals: own });
  if (bare.length <= limit) return bare;
  return packet.encode({ ...whole, flags: flags | packet.TRUNCATED_RESPONSE, answers: [], additionals: own });
}

function datagramLimit(options: packet.OptAnswer | undefined): number {
  const { least, most } = datagramBytes;
  return Math.min(most, Math.max(least, options?.udpPayloadSize ?? least));
}

/** Those of EDNS (RFC 6891); a client that sends none understands none. */
function optionsOf({ additionals = [] }: Asked): packet.OptAnswer | undefined {
  return additionals.find((record): record is packet.OptAnswer => record.type === 'OPT');
}

function optionsRecord(extendedRcode: number): packet.OptAnswer {
  const udpPayloadSize = datagramBytes.most;
  return {
    type: 'OPT',
    name: '.',
    udpPayloadSize,
    extendedRcode,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
}

/** Tells for how long "there is nothing" is true (RFC 2308). */
function authorityRecord(domain: string): packet.Answer {
  const data = {
    ...{ mname: `ns.dns.${domain}`, rname: `hostmaster.${domain}`, serial: 1 },
    ...{ refresh: 7_200, retry: 1_800, expire: 86_400, minimum: ttlSeconds },
  };
  return { type: 'SOA', name: domain, ttl: ttlSeconds, data };
}

function decoded(bytes: Buffer): packet.DecodedPacket | undefined {
  try {
    return packet.decode(bytes);
  } catch {
    return undefined;
  }
}
