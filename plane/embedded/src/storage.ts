import { join } from 'node:path';
import { compactPeriodically, type Keyspace, openEmbeddedKeyspace, openEtcdKeyspace } from '@castellan/keyspace';
import type { Log } from '@castellan/runtime';
import type { World } from '@castellan/world';
import { rememberStorage } from './remembered-storage.js';

/** Where a plane keeps its objects: in its data directory, or in an etcd cluster. */
export type Storage =
  | { readonly type: 'embedded' }
  | {
      readonly type: 'etcd';
      /** HOST:PORT of one or more members. */
      readonly endpoints: readonly string[];
    };

interface StorageOptions {
  readonly dataDirectory: string;
  readonly storage?: Storage;
  readonly world: World;
  readonly log: Log;
}

/** As kube-apiserver's `--etcd-compaction-interval`. */
const compactionIntervalMs = 5 * 60_000;

export async function openStorage(options: StorageOptions): Promise<Keyspace> {
  const { dataDirectory, world, log } = options;
  const storage = await rememberStorage(dataDirectory, options.storage);
  if (storage.type === 'etcd') {
    const { endpoints } = storage;
    return await openEtcdKeyspace({ endpoints, world, onNotice: (message) => log.warn(message) });
  }
  const directory = join(dataDirectory, 'keyspace');
  return await openEmbeddedKeyspace({ directory, world, onNotice: ({ message }) => log.warn(message) });
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
