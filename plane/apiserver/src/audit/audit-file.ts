import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file to which lines are appended. */
export interface AuditFile {
  append(line: string): void;
  /** Resolves when every line is with the system. */
  close(): Promise<void>;
}

/** Lines that wait for a slow disk are dropped beyond this, rather than held in memory. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** Opens the audit log at `path` (mode 0600), or goes on with the one that is there. */
export function openAuditFile(path: string, log?: (line: string) => void): AuditFile {
  mkdirSync(dirname(path), { recursive: true });
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  let isDropping = false;
  stream.on('error', (error) => log?.(`the audit log cannot be written: ${error.message}; next: look at ${path}`));
  return {
    append(line) {
      const isFull = stream.writableLength > maxWaitingBytes;
      if (isFull && !isDropping) log?.(`the audit log is behind by ${maxWaitingBytes} bytes: lines are dropped`);
      isDropping = isFull;
      if (!isFull) stream.write(`${line}\n`);
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}
