import { memoryKeyspace } from '../src/index.js';
import { keyspaceContract } from './contract.js';

keyspaceContract('the memory keyspace', async (world) => ({
  keyspace: memoryKeyspace(world),
  dispose: async () => undefined,
}));
