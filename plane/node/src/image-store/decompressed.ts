import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pipeline } from 'node:stream';
import zlib from 'node:zlib';
import { ArchiveError } from './archive-error.js';

/** Where Debian's zstd is; Node has zstd of its own from 22.15 on. */
const zstdProgram = '/usr/bin/zstd';

/**
 * The content of what may be packed with gzip or zstd; which of them the first bytes tell. Whatever is neither is given as it is.
 *
 * @throws ArchiveError when it is damaged, or packed with zstd on a machine without it.
 */
export async function* decompressed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const whole = joined(first.value, chunks);
  const kind = compressionOf(first.value);
  if (kind === 'none') return yield* whole;
  try {
    yield* kind === 'gzip' ? gunzipped(whole) : unzstd(whole);
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ArchiveError(`a part of the archive that is packed with ${kind} is damaged: ${why}`, { cause });
  }
}

function compressionOf(start: Uint8Array): 'gzip' | 'zstd' | 'none' {
  const [a, b, c, d] = start;
  if (a === 0x1f && b === 0x8b) return 'gzip';
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd ? 'zstd' : 'none';
}

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* gunzipped(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = zlib.createGunzip();
  // What goes wrong in either shows in what is read.
  pipeline(source, gunzip, () => undefined);
  yield* gunzip;
}

async function* unzstd(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (!existsSync(zstdProgram)) {
    throw new ArchiveError(
      'a part of the archive is packed with zstd, which this machine lacks; next: apt-get install zstd',
    );
  }
  const child = spawn(zstdProgram, ['-d', '-c', '-q'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // It may fail while its output is still read; then that ends, and this is asked.
  ended.catch(() => undefined);
  // It ends early when what it is given is damaged: its exit code tells.
  child.stdin.on('error', () => undefined);
  pipeline(source, child.stdin, () => undefined);
  try {
    yield* child.stdout;
    if ((await ended) !== 0) throw new Error(said.join('').trim());
  } finally {
    child.kill();
  }
}
