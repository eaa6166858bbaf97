import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readRecord, writeRecord } from './record-file.js';

/** What a program writes to, a file each. */
export type Output = 'stdout' | 'stderr';

/** In the order in which lines of one moment are shown. */
export const outputs: readonly Output[] = ['stdout', 'stderr'];

/** A place in each of the two files, in bytes from its beginning. */
export type Offsets = Readonly<Record<Output, number>>;

/** Of a start of a container, whose directory is given. */
export function outputPath(directory: string, output: Output): string {
  return join(outputsDirectory(directory), output);
}

export function outputsDirectory(directory: string): string {
  return join(directory, 'output');
}

export function makeOutputsDirectory(directory: string): void {
  mkdirSync(outputsDirectory(directory), { recursive: true });
}

export function outputSizes(directory: string): Offsets {
  const size = (output: Output) => statSync(outputPath(directory, output), { throwIfNoEntry: false })?.size ?? 0;
  return { stdout: size('stdout'), stderr: size('stderr') };
}

/**
 * From where on the files still hold what was written. What is before has been given back to the disk: there are holes, so
 * that no offset ever changes, and whoever reads or writes them goes on.
 */
export function keptFrom(directory: string): Offsets {
  const record = readRecord(keptPath(directory));
  if (typeof record !== 'object' || record === null || !('stdout' in record) || !('stderr' in record)) {
    return { stdout: 0, stderr: 0 };
  }
  return { stdout: Number(record.stdout), stderr: Number(record.stderr) };
}

export function recordKeptFrom(directory: string, kept: Offsets): void {
  writeRecord(keptPath(directory), kept);
}

function keptPath(directory: string): string {
  return join(directory, 'output-kept');
}
