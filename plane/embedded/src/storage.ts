import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  compactPeriodically,
  type EtcdTls,
  type Keyspace,
  openEmbeddedKeyspace,
  openEtcdKeyspace,
} from '@castellan/keyspace';
import type { Log } from '@castellan/runtime';
import type { World } from '@castellan/world';
import { rememberStorage } from './remembered-storage.js';
import type { EtcdTlsFiles, Storage } from './storage-place.js';

interface StorageOptions {
  readonly dataDirectory: string;
  readonly storage?: Storage;
  readonly world: World;
  readonly log: Log;
}

/** As kube-apiserver's `--etcd-compaction-interval`. */
const compactionIntervalMs = 5 * 60_000;

/** `isShared`: other planes may use it at the same time. */
export async function openStorage(
  options: StorageOptions,
): Promise<{ readonly keyspace: Keyspace; readonly isShared: boolean }> {
  const { dataDirectory, world, log } = options;
  const storage = await rememberStorage(dataDirectory, options.storage);
  if (storage.type === 'etcd') {
    const { endpoints, tls } = storage;
    const keyspace = await openEtcdKeyspace({
      endpoints,
      world,
      onNotice: (message) => log.warn(message),
      ...(tls === undefined ? {} : { tls: await readTls(tls) }),
    });
    return { keyspace, isShared: true };
  }
  const directory = join(dataDirectory, 'keyspace');
  const keyspace = await openEmbeddedKeyspace({ directory, world, onNotice: ({ message }) => log.warn(message) });
  return { keyspace, isShared: false };
}

/** Forgets the keyspace's old history again and again. The result stops that. */
export function startCompaction(keyspace: Keyspace, { world, log }: StorageOptions): () => Promise<void> {
  const stopping = new AbortController();
  const compacting = compactPeriodically({
    keyspace,
    world,
    intervalMs: compactionIntervalMs,
    onNotice: (message) => log.warn(message),
    signal: stopping.signal,
  });
  return async () => {
    stopping.abort();
    await compacting;
  };
}

async function readTls({ caFile, certificateFile, keyFile }: EtcdTlsFiles): Promise<EtcdTls> {
  return {
    ca: await readPem(caFile),
    ...(certificateFile === undefined ? {} : { certificate: await readPem(certificateFile) }),
    ...(keyFile === undefined ? {} : { key: await readPem(keyFile) }),
  };
}

async function readPem(path: string): Promise<string> {
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`a file for the connections to etcd cannot be read: ${reason}; next: correct its \`--etcd-…file\``);
  });
  if (!pem.includes('-----BEGIN ')) throw new Error(`${path} is not PEM; next: correct its \`--etcd-…file\``);
  return pem;
}
