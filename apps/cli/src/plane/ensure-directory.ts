import { accessSync, constants, mkdirSync } from 'node:fs';
import { CliError } from '../errors.js';

/** Makes the data directory, and fails with its path when it cannot be made or written. */
export function ensureDirectory(dataDirectory: string): void {
  try {
    mkdirSync(dataDirectory, { recursive: true });
    accessSync(dataDirectory, constants.W_OK);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The data directory ${dataDirectory} cannot be used: ${why}.`;
    throw new CliError('START_FAILED', message, { cause, next: 'choose another with `--data-dir DIR`' });
  }
}
