import { bigInt, bool, bytes, int, message, nested, part, repeated, string, type ValueOf } from './protobuf.js';

/**
 * The messages of etcd's API that a keyspace needs, with the fields that it needs. The numbers are those of etcd 3.4's
 * rpc.proto (etcdserverpb) and kv.proto (mvccpb); they are the same in every etcd v3.
 */
const header = message({ revision: int(3) });

const storedKey = message({
  key: bytes(1),
  createRevision: int(2),
  modRevision: int(3),
  version: int(4),
  value: bytes(5),
  lease: bigInt(6),
});
export type StoredKey = ValueOf<typeof storedKey>;

export const rangeRequest = message({
  key: bytes(1),
  rangeEnd: bytes(2),
  limit: int(3),
  revision: int(4),
  isCountOnly: bool(9),
});
export type RangeRequest = Partial<ValueOf<typeof rangeRequest>>;
export const rangeResponse = message({
  header: nested(1, header),
  keyValues: repeated(nested(2, storedKey)),
  hasMore: bool(3),
  count: int(4),
});

const putRequest = message({ key: bytes(1), value: bytes(2), lease: bigInt(3), wantsPrevious: bool(4) });
const putResponse = message({ previous: nested(2, storedKey) });
const deleteRequest = message({ key: bytes(1), wantsPrevious: bool(3) });
const deleteResponse = message({ previous: repeated(nested(3, storedKey)) });

const requestOperation = message({
  range: part(1, rangeRequest),
  put: part(2, putRequest),
  delete: part(3, deleteRequest),
});
export type RequestOperation = Partial<ValueOf<typeof requestOperation>>;
const responseOperation = message({
  range: nested(1, rangeResponse),
  put: nested(2, putResponse),
  delete: nested(3, deleteResponse),
});

export const compareTarget = { modRevision: 2 } as const;
/** "Equal" is 0, which is what a field that is not written is. */
const compare = message({ target: int(2), key: bytes(3), modRevision: int(6) });

export const transactionRequest = message({
  compare: repeated(part(1, compare)),
  success: repeated(part(2, requestOperation)),
  failure: repeated(part(3, requestOperation)),
});
export const transactionResponse = message({
  header: nested(1, header),
  isSuccess: bool(2),
  responses: repeated(nested(3, responseOperation)),
});

export const compactionRequest = message({ revision: int(1) });
export const compactionResponse = message({ header: nested(1, header) });

const watchCreateRequest = message({
  key: bytes(1),
  rangeEnd: bytes(2),
  startRevision: int(3),
  wantsPrevious: bool(6),
  allowsFragments: bool(8),
});
export const watchRequest = message({ create: part(1, watchCreateRequest) });

/** A put is 0. */
export const deleteEvent = 1;
const event = message({ type: int(1), keyValue: nested(2, storedKey), previous: nested(3, storedKey) });
export type WatchEvent = ValueOf<typeof event>;
export const watchResponse = message({
  header: nested(1, header),
  isCreated: bool(3),
  isCanceled: bool(4),
  compactRevision: int(5),
  cancelReason: string(6),
  /** More of the same response follows in the next one. */
  isFragment: bool(7),
  events: repeated(nested(11, event)),
});
export type WatchResponse = ValueOf<typeof watchResponse>;

export const leaseGrantRequest = message({ ttlSeconds: int(1) });
export const leaseGrantResponse = message({ id: bigInt(2), error: string(4) });
export const leaseRevokeRequest = message({ id: bigInt(1) });
export const leaseRevokeResponse = message({ header: nested(1, header) });
export const leaseKeepAliveRequest = message({ id: bigInt(1) });
/** A TTL of 0: there is no such lease. */
export const leaseKeepAliveResponse = message({ id: bigInt(2), ttlSeconds: int(3) });

export const statusRequest = message({});
export const statusResponse = message({
  version: string(2),
  sizeBytes: int(3),
  /** Alarms: out of space, corrupt. */
  errors: repeated(string(8)),
});
