import type { EtcdMember, EtcdMemberState } from './etcd-member.js';

type Document = Readonly<Record<string, unknown>>;

/** A JSON object, or `undefined` where the text is anything else. */
export function readObject(text: string): Document | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isDocument(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** IDs are unsigned 64-bit; people know them in hexadecimal. */
export function hexId(decimal: string): string {
  return BigInt(decimal).toString(16);
}

export function readMembers(reply: Document): { clusterId: string; members: readonly EtcdMember[] } {
  const members = Array.isArray(reply.members) ? reply.members.filter(isDocument) : [];
  return { clusterId: hexId(digits(headerOf(reply).cluster_id)), members: members.map(readMember) };
}

export function readStatus(reply: Document): EtcdMemberState {
  const header = headerOf(reply);
  const leader = digits(reply.leader);
  return {
    clusterId: hexId(digits(header.cluster_id)),
    memberId: digits(header.member_id),
    leaderId: leader === '0' ? undefined : leader,
    isLearner: reply.isLearner === true,
    version: text(reply.version),
    raftTerm: Number(digits(reply.raftTerm)),
    raftIndex: Number(digits(reply.raftIndex)),
    raftAppliedIndex: Number(digits(reply.raftAppliedIndex)),
    errors: texts(reply.errors),
  };
}

export function readRange(reply: Document): string | undefined {
  const first: unknown = Array.isArray(reply.kvs) ? reply.kvs[0] : undefined;
  return isDocument(first) ? Buffer.from(text(first.value), 'base64').toString('utf8') : undefined;
}

function readMember(member: Document): EtcdMember {
  return {
    id: digits(member.ID),
    name: text(member.name),
    peerUrls: texts(member.peerURLs),
    clientUrls: texts(member.clientURLs),
    isLearner: member.isLearner === true,
  };
}

function headerOf(reply: Document): Document {
  const header = reply.header;
  return isDocument(header) ? header : {};
}

/** The gateway leaves out what is zero, empty or false. */
function digits(value: unknown): string {
  return typeof value === 'string' && /^\d+$/.test(value) ? value : '0';
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
