import type { Keyspace } from '../keyspace.js';
import type { EtcdKeyspaceOptions } from './etcd-options.js';

/**
 * A keyspace in an etcd cluster; any number of processes may open the same. SPEC.md K1 to K9 and K18 to K22 say what it
 * promises. gRPC is loaded here, so that planes with a keyspace of their own do not pay for it.
 *
 * Fails with `EtcdUnreachableError` when no endpoint answers within 5 s, and with `EtcdRefusedError` when etcd does not
 * let us read.
 */
export async function openEtcdKeyspace(options: EtcdKeyspaceOptions): Promise<Keyspace> {
  const { connectEtcdKeyspace } = await import('./etcd-keyspace.js');
  return await connectEtcdKeyspace(options);
}
