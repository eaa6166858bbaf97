import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';

/** A JSON file that is either its old or its new content, whatever happens in between. */
export function writeRecord(path: string, value: unknown): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w');
  try {
    writeSync(file, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

/** `undefined` when there is no such file, or none that was ever finished. */
export function readRecord(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return undefined;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
