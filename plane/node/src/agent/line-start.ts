import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 64 * 1024;
const newline = 0x0a;

/** Where the line begins that has, or is ended by, what comes at `offset`. */
export async function lineStart(file: FileHandle, offset: number): Promise<number> {
  for (let end = offset; end > 0; end -= Math.min(end, chunkBytes)) {
    const start = Math.max(0, end - chunkBytes);
    const buffer = Buffer.alloc(end - start);
    await file.read(buffer, 0, buffer.length, start);
    const before = buffer.lastIndexOf(newline);
    if (before >= 0) return start + before + 1;
  }
  return 0;
}

/** Where the last `lines` lines before `size` begin, not before `from`. A line that is not ended yet counts as one. */
export async function tailStart(
  file: FileHandle,
  { size, from, lines }: { readonly size: number; readonly from: number; readonly lines: number },
): Promise<number> {
  if (lines <= 0) return size;
  let found = 0;
  for (let end = size; end > from; ) {
    const start = Math.max(from, end - chunkBytes);
    const buffer = Buffer.alloc(end - start);
    await file.read(buffer, 0, buffer.length, start);
    for (let index = buffer.length - 1; index >= 0; index -= 1) {
      if (buffer[index] !== newline || start + index === size - 1) continue;
      found += 1;
      if (found === lines) return start + index + 1;
    }
    end = start;
  }
  return from;
}
