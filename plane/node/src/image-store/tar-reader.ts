import { ArchiveError } from './archive-error.js';
import { ByteReader } from './byte-reader.js';
import {
  blockLength,
  parsePaxRecords,
  parseTarHeader,
  type TarEntry,
  type TarEntryType,
  type TarHeader,
} from './tar-header.js';

/** An entry, and its content, which is to be read before the next entry or not at all. */
export interface TarMember extends TarEntry {
  /** Where the content begins in the archive, in bytes. */
  readonly offset: number;
  content(): AsyncIterable<Uint8Array>;
}

const entryTypes: ReadonlyMap<string, TarEntryType> = new Map([
  ['0', 'file'],
  ['7', 'file'],
  ['1', 'hard link'],
  ['2', 'symbolic link'],
  ['3', 'device'],
  ['4', 'device'],
  ['5', 'directory'],
  ['6', 'pipe'],
]);

/** What is said of an entry before it: names are never longer than this. */
const longestHeader = 1024 * 1024;

/**
 * The members of a tar archive, in order: ustar, pax and GNU.
 *
 * @throws ArchiveError when it is damaged, or ends too early.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const reader = new ByteReader(source);
  let said = new Map<string, string>();
  for (;;) {
    const block = await reader.read(blockLength);
    // Two blocks of nothing end an archive; some writers leave them out.
    if (block.length === 0 || block.every((byte) => byte === 0)) return await reader.drain();
    if (block.length < blockLength) throw new ArchiveError('the tar archive ends in the middle of a header');
    const header = parseTarHeader(block);
    const more = await extension(header, reader);
    if (more !== undefined) {
      said = new Map([...said, ...more]);
      continue;
    }
    yield* member(header, said, reader);
    said = new Map();
  }
}

/** What an entry says that is not one, but of the next one; `undefined` when it is one. */
async function extension(header: TarHeader, reader: ByteReader): Promise<ReadonlyMap<string, string> | undefined> {
  const { flag, size } = header;
  if (flag !== 'x' && flag !== 'g' && flag !== 'L' && flag !== 'K') return undefined;
  if (size > longestHeader) throw new ArchiveError(`an extended header of the tar archive has ${size} bytes`);
  const content = await reader.read(size);
  await skipPadding(size, reader);
  if (flag === 'x') return parsePaxRecords(content);
  // Global headers name a commit or a comment, and nothing that we read.
  if (flag === 'g') return new Map();
  const end = content.indexOf(0);
  return new Map([[flag === 'L' ? 'path' : 'linkpath', content.toString('utf8', 0, end < 0 ? content.length : end)]]);
}

async function* member(
  header: TarHeader,
  said: ReadonlyMap<string, string>,
  reader: ByteReader,
): AsyncGenerator<TarMember> {
  const size = Number(said.get('size') ?? header.size);
  const end = reader.position + size;
  const path = said.get('path') ?? header.path;
  // Before POSIX a directory was a file whose name ends so.
  const type = header.flag === '0' && path.endsWith('/') ? 'directory' : entryTypes.get(header.flag);
  if (type !== undefined) {
    yield {
      path,
      type,
      mode: header.mode,
      user: Number(said.get('uid') ?? header.user),
      group: Number(said.get('gid') ?? header.group),
      size,
      modifiedAt: Number(said.get('mtime') ?? header.modifiedAt),
      target: said.get('linkpath') ?? header.target,
      offset: reader.position,
      content: () => whole(size, reader),
    };
  }
  try {
    await reader.skip(end - reader.position);
    await skipPadding(size, reader);
  } catch (cause) {
    throw new ArchiveError(`the tar archive ends within ${path}`, { cause });
  }
}

async function* whole(size: number, reader: ByteReader): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const part of reader.take(size)) {
    length += part.length;
    yield part;
  }
  if (length < size) throw new ArchiveError(`the tar archive ends ${size - length} bytes too early`);
}

async function skipPadding(size: number, reader: ByteReader): Promise<void> {
  await reader.read((blockLength - (size % blockLength)) % blockLength);
}
