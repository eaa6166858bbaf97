import type { LeaseId, Revision } from './keyspace.js';

/** Every expected failure of a keyspace. `code` is stable; the message says what, why and what to do next. */
export abstract class KeyspaceError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The history asked for is no longer kept. The API server answers it with 410 Gone. */
export class CompactedError extends KeyspaceError {
  readonly code = 'Compacted';
  constructor(
    readonly revision: Revision,
    readonly compactedRevision: Revision,
  ) {
    super(
      `revision ${revision} is compacted: history is kept from revision ${compactedRevision} on; ` +
        'read the present state and watch from its revision',
    );
  }
}

/** The revision asked for has not been reached. */
export class FutureRevisionError extends KeyspaceError {
  readonly code = 'FutureRevision';
  constructor(
    readonly revision: Revision,
    readonly currentRevision: Revision,
  ) {
    super(
      `revision ${revision} is in the future: the keyspace is at revision ${currentRevision}; ` +
        'the revision may come from another keyspace or from before a restore: read the present state',
    );
  }
}

/** A key that no keyspace can hold: empty, or with half a surrogate pair (it has no UTF-8 form). */
export class InvalidKeyError extends KeyspaceError {
  readonly code = 'InvalidKey';
  constructor(readonly key: string) {
    super(`${JSON.stringify(key)} cannot be a key: a key is non-empty, well-formed Unicode; correct the caller`);
  }
}

/** The lease was never granted, was revoked, or has expired. */
export class LeaseNotFoundError extends KeyspaceError {
  readonly code = 'LeaseNotFound';
  constructor(readonly lease: LeaseId) {
    super(`lease ${lease} does not exist: it has expired or was never granted; grant a new one`);
  }
}

/** `close` was called. */
export class KeyspaceClosedError extends KeyspaceError {
  readonly code = 'KeyspaceClosed';
  constructor() {
    super('the keyspace is closed, so nothing can be read or written; open it again');
  }
}

/**
 * A write to the disk failed. This write and every later one fails, because after a failed fsync nobody can say
 * what is on the disk; reads go on. Nothing that was acknowledged is lost.
 */
export class KeyspaceFailedError extends KeyspaceError {
  readonly code = 'KeyspaceFailed';
  constructor(
    readonly directory: string,
    cause: unknown,
  ) {
    super(
      `the keyspace in ${directory} takes no more writes, because its disk failed (${messageOf(cause)}); ` +
        `${isDiskFull(cause) ? 'free space on that disk' : 'check that disk'} and start again: every acknowledged write is there`,
      { cause },
    );
  }
}

/** The log is damaged where it was once whole: not by a crash, but by the disk or by a hand. */
export class DamagedLogError extends KeyspaceError {
  readonly code = 'DamagedLog';
  constructor(
    readonly file: string,
    /** In bytes from the start of the file. */
    readonly offset: number,
    readonly reason: string,
  ) {
    super(
      `${file} is damaged at byte ${offset}: ${reason}; acknowledged writes may be missing, so the keyspace does not start. ` +
        'Restore its directory from a backup, or move the directory away to start empty',
    );
  }
}

/** Another live process has the directory open. */
export class KeyspaceLockedError extends KeyspaceError {
  readonly code = 'KeyspaceLocked';
  constructor(
    readonly directory: string,
    readonly pid: number,
  ) {
    super(`the keyspace in ${directory} is in use by process ${pid}; stop that process or choose another directory`);
  }
}

/** No endpoint of the etcd cluster answered within the deadline. Nothing was written. */
export class EtcdUnreachableError extends KeyspaceError {
  readonly code = 'EtcdUnreachable';
  constructor(
    /** HOST:PORT, all that were tried. */
    readonly endpoints: readonly string[],
    readonly reason: string,
    options?: { readonly cause?: unknown },
  ) {
    super(
      `etcd at ${endpoints.join(', ')} does not answer: ${reason}; check that etcd runs there, that a majority of its ` +
        'members is up, and that this machine can connect to them (etcdctl --endpoints HOST:PORT endpoint health)',
      options,
    );
  }
}

/** etcd answered, but does not do what it was asked to: out of space, too large, not permitted. Nothing was written. */
export class EtcdRefusedError extends KeyspaceError {
  readonly code = 'EtcdRefused';
  constructor(
    readonly endpoint: string,
    readonly reason: string,
    readonly next: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`etcd at ${endpoint} refused: ${reason}; ${next}`, options);
  }
}

/** The connection was lost, or the deadline came, between a write and its answer: it may have been made or not. */
export class UncertainWriteError extends KeyspaceError {
  readonly code = 'UncertainWrite';
  constructor(
    readonly endpoint: string,
    readonly reason: string,
    options?: { readonly cause?: unknown },
  ) {
    super(
      `etcd at ${endpoint} did not answer a write (${reason}), so it may have been made or not; ` +
        'read what is there before writing again',
      options,
    );
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function isDiskFull(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');
}
