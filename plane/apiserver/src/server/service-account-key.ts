import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newTokenKey } from '../authentication/service-account-tokens.js';

const fileName = 'service-account.key';

/**
 * The key that signs service accounts' tokens: PEM, made once and kept in `directory` (mode 0600), so that tokens
 * outlive the process. API servers that serve the same keyspace must have the same one.
 */
export async function ensureServiceAccountKey(directory: string): Promise<string> {
  const path = join(directory, fileName);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) throw error;
  }
  const key = newTokenKey();
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, key, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return key;
}
