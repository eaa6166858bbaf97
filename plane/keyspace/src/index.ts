export { type CompactionOptions, compactPeriodically } from './compaction.js';
export type { AppendableFile, KeyspaceFileSystem, ReadableFile } from './disk/file-system.js';
export type { KeyspaceNotice } from './disk/load.js';
export type { LogLimits } from './disk/rewriter.js';
export { type EmbeddedKeyspaceOptions, openEmbeddedKeyspace } from './embedded-keyspace.js';
export {
  CompactedError,
  DamagedLogError,
  EtcdRefusedError,
  EtcdUnreachableError,
  FutureRevisionError,
  InvalidKeyError,
  KeyspaceClosedError,
  KeyspaceError,
  KeyspaceFailedError,
  KeyspaceLockedError,
  LeaseNotFoundError,
  UncertainWriteError,
} from './errors.js';
export type { EtcdKeyspaceOptions, EtcdTls } from './etcd/etcd-options.js';
export { openEtcdKeyspace } from './etcd/open-etcd-keyspace.js';
export type {
  GetResult,
  KeyEvent,
  KeyRange,
  Keyspace,
  KeyspaceStatus,
  KeyValue,
  LeaseId,
  PutOptions,
  RangeOptions,
  RangeResult,
  Revision,
  Watch,
  Watcher,
  WriteResult,
} from './keyspace.js';
export { memoryKeyspace } from './memory-keyspace.js';
export { prefixRange } from './mvcc/key-order.js';
