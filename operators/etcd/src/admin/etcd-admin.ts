import { EtcdRefusedError, EtcdUnreachableError } from './errors.js';
import type { EtcdMember, EtcdMemberState } from './etcd-member.js';
import { type JsonPost, postOverHttp } from './transport.js';
import { readMembers, readObject, readRange, readStatus } from './wire.js';

/**
 * What an operator asks of etcd, by the JSON gateway that every member has on its client port. `endpoint` is the member
 * to ask, such as `http://10.0.0.7:2379`. Calls fail with `EtcdRefusedError` or `EtcdUnreachableError`.
 */
export interface EtcdAdmin {
  status(endpoint: string, signal?: AbortSignal): Promise<EtcdMemberState>;
  /** As this member knows them, which without quorum may be out of date. Learners refuse. */
  members(endpoint: string, signal?: AbortSignal): Promise<{ clusterId: string; members: readonly EtcdMember[] }>;
  addLearner(endpoint: string, peerUrl: string, signal?: AbortSignal): Promise<void>;
  promote(endpoint: string, id: string, signal?: AbortSignal): Promise<void>;
  remove(endpoint: string, id: string, signal?: AbortSignal): Promise<void>;
  /** Must be asked of the leader. */
  moveLeader(endpoint: string, toId: string, signal?: AbortSignal): Promise<void>;
  put(endpoint: string, key: string, value: string, signal?: AbortSignal): Promise<void>;
  /** The value of a key, linearizable; `undefined` where there is none. */
  get(endpoint: string, key: string, signal?: AbortSignal): Promise<string | undefined>;
}

export interface EtcdAdminOptions {
  readonly post?: JsonPost;
  /** For questions; a member that is slower is not well. 2000 by default. */
  readonly readDeadlineMs?: number;
  /** For changes, which wait for a quorum; 5000 by default. */
  readonly writeDeadlineMs?: number;
}

export function etcdAdmin(options: EtcdAdminOptions = {}): EtcdAdmin {
  const { post = postOverHttp, readDeadlineMs = 2000, writeDeadlineMs = 5000 } = options;

  async function call(endpoint: string, path: string, body: object, deadlineMs: number, signal?: AbortSignal) {
    const sent = post(`${endpoint}/v3/${path}`, JSON.stringify(body), { deadlineMs, ...(signal && { signal }) });
    const reply = await sent.catch((cause: unknown) => {
      throw new EtcdUnreachableError(path, endpoint, { cause });
    });
    const document = readObject(reply.body);
    if (reply.status === 200 && document !== undefined) return document;
    const message = document?.message ?? document?.error;
    if (typeof message === 'string') throw new EtcdRefusedError(path, message);
    throw new EtcdUnreachableError(path, endpoint, { cause: `HTTP status ${reply.status}` });
  }

  const ask = (endpoint: string, path: string, body: object, signal?: AbortSignal) =>
    call(endpoint, path, body, readDeadlineMs, signal);
  const change = async (endpoint: string, path: string, body: object, signal?: AbortSignal) => {
    await call(endpoint, path, body, writeDeadlineMs, signal);
  };

  return {
    async status(endpoint, signal) {
      return readStatus(await ask(endpoint, 'maintenance/status', {}, signal));
    },
    async members(endpoint, signal) {
      return readMembers(await ask(endpoint, 'cluster/member/list', {}, signal));
    },
    addLearner: (endpoint, peerUrl, signal) =>
      change(endpoint, 'cluster/member/add', { peerURLs: [peerUrl], isLearner: true }, signal),
    promote: (endpoint, id, signal) => change(endpoint, 'cluster/member/promote', { ID: id }, signal),
    remove: (endpoint, id, signal) => change(endpoint, 'cluster/member/remove', { ID: id }, signal),
    moveLeader: (endpoint, toId, signal) =>
      change(endpoint, 'maintenance/transfer-leadership', { targetID: toId }, signal),
    put: (endpoint, key, value, signal) =>
      change(endpoint, 'kv/put', { key: base64(key), value: base64(value) }, signal),
    async get(endpoint, key, signal) {
      return readRange(await ask(endpoint, 'kv/range', { key: base64(key) }, signal));
    },
  };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
