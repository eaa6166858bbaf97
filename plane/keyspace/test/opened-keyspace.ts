import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from '@castellan/world';
import { type Keyspace, memoryKeyspace, openEmbeddedKeyspace } from '../src/index.js';

/** Opens a new, empty keyspace. */
export type OpenKeyspace = (world: World) => Promise<OpenedKeyspace>;

export interface OpenedKeyspace {
  readonly keyspace: Keyspace;
  /** Closes it and opens it on the same data, where that has a meaning. */
  readonly reopen?: () => Promise<Keyspace>;
  readonly dispose: () => Promise<void>;
}

export const openMemory: OpenKeyspace = async (world) => ({
  keyspace: memoryKeyspace(world),
  dispose: async () => undefined,
});

/** In a directory of its own, with limits so small that segments end and the log is rewritten all the time. */
export const openEmbedded: OpenKeyspace = async (world) => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-keyspace-'));
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
};
