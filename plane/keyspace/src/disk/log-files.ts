import { join } from 'node:path';

/**
 * The files of a keyspace's directory:
 *
 *     000003.snapshot   the state before segment 3
 *     000003.log        segment 3: what was written from there on
 *     000004.log        segment 4, to which writes are appended now
 *     lock.7            who has the directory open
 *     000005.tmp        a snapshot that is being written, or was when the process stopped
 */
export interface LogFiles {
  /** The newest snapshot's number, when there is one. */
  readonly snapshot: number | undefined;
  /** The numbers of the segments from that snapshot on, or from 1 on, in order. */
  readonly segments: readonly number[];
  /** Names of files that are of no more use. */
  readonly obsolete: readonly string[];
}

export function segmentName(number: number): string {
  return `${padded(number)}.log`;
}

export function snapshotName(number: number): string {
  return `${padded(number)}.snapshot`;
}

export function draftName(number: number): string {
  return `${padded(number)}.tmp`;
}

export function pathIn(directory: string, name: string): string {
  return join(directory, name);
}

export function sortFiles(names: readonly string[]): LogFiles {
  const numbered = names.flatMap((name) => {
    const match = /^(\d+)\.(log|snapshot|tmp)$/.exec(name);
    return match ? [{ name, number: Number(match[1]), kind: match[2] }] : [];
  });
  const snapshots = numbered.filter(({ kind }) => kind === 'snapshot').map(({ number }) => number);
  const snapshot = snapshots.length > 0 ? Math.max(...snapshots) : undefined;
  const first = snapshot ?? 0;
  const isObsolete = (file: { number: number; kind: string | undefined }) => file.kind === 'tmp' || file.number < first;
  return {
    snapshot,
    segments: numbered
      .filter((file) => file.kind === 'log' && file.number >= first)
      .map(({ number }) => number)
      .sort((left, right) => left - right),
    obsolete: numbered.filter(isObsolete).map(({ name }) => name),
  };
}

function padded(number: number): string {
  return String(number).padStart(6, '0');
}
