import { close, fsync, open, readFileSync, renameSync, writeFileSync } from 'node:fs';

/**
 * A JSON file that is either its old or its new content, whatever happens to the process. The disk is told to keep it in
 * the background: a record that a loss of power takes is that of a pod that the same loss has ended.
 */
export function writeRecord(path: string, value: unknown): void {
  const temporary = `${path}.new`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`);
  renameSync(temporary, path);
  open(path, 'r', (error, file) => {
    if (error === null) fsync(file, () => close(file));
  });
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
