import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from './storage.js';

/** The data directory's objects are elsewhere than this start was told. */
export class StorageMismatchError extends Error {
  override readonly name = 'StorageMismatchError';
  readonly code = 'STORAGE_MISMATCH';
}

/**
 * Which storage this data directory's plane uses: what was asked for, else what it used before, else the embedded keyspace.
 * It is written down at the first start. Another kind is refused: a start that forgot the option would find no objects and
 * stop every pod. The endpoints of an etcd may change.
 *
 * @throws StorageMismatchError
 */
export async function rememberStorage(dataDirectory: string, asked: Storage | undefined): Promise<Storage> {
  const file = join(dataDirectory, 'storage.json');
  const known = parseStorage(await readFile(file, 'utf8').catch(() => undefined));
  if (known !== undefined && asked !== undefined && known.type !== asked.type) {
    const where = known.type === 'embedded' ? 'in its own keyspace' : `in the etcd at ${known.endpoints.join(',')}`;
    throw new StorageMismatchError(
      `the objects of ${dataDirectory} are ${where}; next: leave \`--storage\` out, or choose another data directory`,
    );
  }
  const storage = asked ?? known ?? { type: 'embedded' };
  await writeFile(file, `${JSON.stringify(storage, null, 2)}\n`);
  return storage;
}

function parseStorage(text: string | undefined): Storage | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  if (value.type === 'embedded') return { type: 'embedded' };
  const endpoints = 'endpoints' in value && Array.isArray(value.endpoints) ? value.endpoints.map(String) : [];
  return value.type === 'etcd' && endpoints.length > 0 ? { type: 'etcd', endpoints } : undefined;
}
