import { ArchiveError } from './archive-error.js';

export type TarEntryType = 'file' | 'hard link' | 'symbolic link' | 'device' | 'directory' | 'pipe';

export interface TarEntry {
  /** As it stands in the archive: nothing of it is checked. */
  readonly path: string;
  readonly type: TarEntryType;
  /** Permissions, with the set-user, set-group and sticky bits. */
  readonly mode: number;
  readonly user: number;
  readonly group: number;
  /** Bytes of a file's content. */
  readonly size: number;
  /** Seconds since 1970. */
  readonly modifiedAt: number;
  /** Of links. */
  readonly target: string;
}

/** One block of 512 bytes that begins an entry, before what extended headers say of it is added. */
export interface TarHeader extends Omit<TarEntry, 'type'> {
  /** One character: `0` a file, `x` an extended header, and so on. */
  readonly flag: string;
}

export const blockLength = 512;

/**
 * Reads a header of POSIX ustar, or as GNU tar writes it. Source: POSIX.1-2017, pax, "ustar Interchange Format"; the GNU
 * tar manual, "Basic Tar Format".
 *
 * @throws ArchiveError when it is none.
 */
export function parseTarHeader(block: Buffer): TarHeader {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== number(block, 148, 8))
    throw new ArchiveError('a header of the tar archive is damaged: its checksum is wrong');
  const isPosix = text(block, 257, 6) === 'ustar' && block[263] === 0x30;
  const prefix = isPosix ? text(block, 345, 155) : '';
  const name = text(block, 0, 100);
  const flag = String.fromCharCode(block[156] ?? 0).replace('\0', '0');
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    flag,
    mode: number(block, 100, 8) & 0o7777,
    user: number(block, 108, 8),
    group: number(block, 116, 8),
    size: number(block, 124, 12),
    modifiedAt: number(block, 136, 12),
    target: text(block, 157, 100),
  };
}

/** What pax headers say of the next entry: `LENGTH KEY=VALUE`, a line each. */
export function parsePaxRecords(content: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString('latin1', at, space));
    if (space < 0 || !Number.isInteger(length) || length <= space - at || at + length > content.length) {
      throw new ArchiveError('an extended header of the tar archive is damaged');
    }
    const record = content.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function text(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

/** Octal digits; or, where the first bit is set, what GNU tar writes of numbers too large for them: the bytes themselves. */
function number(block: Buffer, start: number, length: number): number {
  const first = block[start] ?? 0;
  if ((first & 0x80) === 0) return Number.parseInt(text(block, start, length).trim() || '0', 8);
  return block.subarray(start + 1, start + length).reduce((total, byte) => total * 256 + byte, first & 0x7f);
}
