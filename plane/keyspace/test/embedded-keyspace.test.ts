import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedKeyspace } from '../src/index.js';
import { keyspaceContract } from './contract.js';

keyspaceContract('the embedded keyspace', async (world) => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-keyspace-'));
  // Limits so small that segments end and rewritings happen all the time.
  const open = () => openEmbeddedKeyspace({ directory, world, limits: { segmentBytes: 300, slackBytes: 500 } });
  let keyspace = await open();
  return {
    keyspace,
    reopen: async () => {
      await keyspace.close();
      keyspace = await open();
      return keyspace;
    },
    dispose: () => rm(directory, { recursive: true }),
  };
});
