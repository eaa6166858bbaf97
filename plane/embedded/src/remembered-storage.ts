import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EtcdTlsFiles, Storage } from './storage-place.js';

/** The data directory's objects are elsewhere than this start was told. */
export class StorageMismatchError extends Error {
  override readonly name = 'StorageMismatchError';
  readonly code = 'STORAGE_MISMATCH';
}

/**
 * Which storage this data directory's plane uses: what was asked for, else what it used before, else the embedded keyspace.
 * It is written down at the first start. Another kind is refused: a start that forgot the option would find no objects and
 * stop every pod. The endpoints of an etcd may change, and so may its certificates.
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
  const isTlsKept =
    asked?.type === 'etcd' && asked.tls === undefined && known?.type === 'etcd' && known.tls !== undefined;
  const storage = isTlsKept ? { ...asked, tls: known.tls } : (asked ?? known ?? { type: 'embedded' });
  await writeFile(file, `${JSON.stringify(storage, null, 2)}\n`);
  return storage;
}

function parseStorage(text: string | undefined): Storage | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  if (value.type === 'embedded') return { type: 'embedded' };
  const endpoints = 'endpoints' in value && Array.isArray(value.endpoints) ? value.endpoints.map(String) : [];
  if (value.type !== 'etcd' || endpoints.length === 0) return undefined;
  const tls = 'tls' in value ? parseTls(value.tls) : undefined;
  return { type: 'etcd', endpoints, ...(tls === undefined ? {} : { tls }) };
}

function parseTls(value: unknown): EtcdTlsFiles | undefined {
  if (typeof value !== 'object' || value === null || !('caFile' in value)) return undefined;
  return {
    caFile: String(value.caFile),
    ...('certificateFile' in value ? { certificateFile: String(value.certificateFile) } : {}),
    ...('keyFile' in value ? { keyFile: String(value.keyFile) } : {}),
  };
}
