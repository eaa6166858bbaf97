import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { outputPath, outputSizes, outputs } from '../sandbox/log-files.js';
import { LogMarks } from '../sandbox/log-marks.js';

/** What Kubernetes keeps of a message that the program wrote, and of the end of its log in place of one. */
const messageLimit = 4096;
const logLimit = { bytes: 2048, lines: 80 };

/** What a container said of its end: its message file or, where the pod asks for it and it failed, the end of its log. */
export function terminationMessage(run: { readonly directory: string; readonly fallsBackToLog: boolean }): string {
  // The file is the pod's own, and may be of any size.
  const written = filePart(join(run.directory, 'termination-log'), () => 0, messageLimit);
  return written !== '' || !run.fallsBackToLog ? written : logTail(run.directory);
}

/** The end of both outputs, line by line in the order of their times. */
function logTail(directory: string): string {
  const marks = new LogMarks(directory);
  const sizes = outputSizes(directory);
  const lines = outputs.flatMap((output) => {
    const text = fileTail(outputPath(directory, output), logLimit.bytes);
    let offset = sizes[output] - Buffer.byteLength(text);
    return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => {
      offset += Buffer.byteLength(line);
      return { line, mark: marks.of(output, offset - 1) };
    });
  });
  const text = lines.toSorted((a, b) => a.mark - b.mark).map(({ line }) => line);
  return Buffer.from(text.slice(-logLimit.lines).join('')).subarray(-logLimit.bytes).toString('utf8');
}

/** The last bytes of a file, as text. Empty when there is none. */
export function fileTail(path: string, bytes: number): string {
  return filePart(path, (size) => Math.max(0, size - bytes), bytes);
}

function filePart(path: string, from: (size: number) => number, bytes: number): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return '';
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const length = readSync(file, buffer, 0, buffer.length, from(size));
    return buffer.subarray(0, length).toString('utf8');
  } finally {
    closeSync(file);
  }
}
