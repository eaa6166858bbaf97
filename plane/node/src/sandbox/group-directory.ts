import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** A control group is a directory whose files the kernel made: it is removed as it is, and only while it is empty of processes. */
export function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

/** `true` when it is gone. */
export function removeDirectory(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return !existsSync(path);
  }
}

export function directoriesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, name));
}
