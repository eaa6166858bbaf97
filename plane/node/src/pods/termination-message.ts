import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

/** What Kubernetes keeps of a message that the program wrote, and of the end of its log in place of one. */
const messageLimit = 4096;
const logLimit = { bytes: 2048, lines: 80 };

/** What a container said of its end: its message file or, where the pod asks for it and it failed, the end of its log. */
export function terminationMessage(files: {
  readonly message: string;
  readonly log: string;
  readonly fallsBackToLog: boolean;
}): string {
  const written = existsSync(files.message) ? readFileSync(files.message, 'utf8').slice(0, messageLimit) : '';
  if (written !== '' || !files.fallsBackToLog) return written;
  const lines = fileTail(files.log, logLimit.bytes).split(/(?<=\n)/);
  return lines.slice(-logLimit.lines).join('');
}

/** The last bytes of a file, as text. Empty when there is none. */
export function fileTail(path: string, bytes: number): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return '';
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const length = readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.subarray(0, length).toString('utf8');
  } finally {
    closeSync(file);
  }
}
