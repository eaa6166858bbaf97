import { createApiServer } from '@castellan/apiserver';
import { type Keyspace, type KeyValue, memoryKeyspace } from '@castellan/keyspace';
import { SimulatedWorld, type World } from '@castellan/world';
import { inProcessTransport } from './in-process-transport.js';

/** What an API server has written when it is up, with its default roles: the same for every cluster of this process. */
let image: Promise<readonly KeyValue[]> | undefined;

/**
 * A keyspace in memory that an API server has been started over before. The hundred and more roles that every cluster has are
 * most of the work of a start, and are made only once.
 */
export async function freshKeyspace(world: World): Promise<Keyspace> {
  image ??= makeImage();
  const keyspace = memoryKeyspace(world);
  for (const { key, value } of await image) await keyspace.put(key, value, { ifRevision: 0 });
  return keyspace;
}

async function makeImage(): Promise<readonly KeyValue[]> {
  const world = new SimulatedWorld(0);
  const keyspace = memoryKeyspace(world);
  const server = await createApiServer({ keyspace, world });
  const roles = inProcessTransport(server, { name: 'kubernetes-admin', groups: ['system:masters'] }).send({
    method: 'GET',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=1',
  });
  await world.run(roles, 60_000);
  const { keyValues } = await keyspace.range({ start: '/', end: '0' });
  await server.close();
  return keyValues;
}
