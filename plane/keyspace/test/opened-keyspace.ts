import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realWorld, simulatedWorld } from '@castellan/world';
import { type Keyspace, memoryKeyspace, openEmbeddedKeyspace, openEtcdKeyspace } from '../src/index.js';
import { EtcdProcess } from './etcd-process.js';

/** Opens a new, empty keyspace. */
export type OpenKeyspace = () => Promise<OpenedKeyspace>;

export interface OpenedKeyspace {
  readonly keyspace: Keyspace;
  /** Lets time pass, in the world of the keyspace. */
  readonly pass: (ms: number) => Promise<void>;
  /** Monotonic, in that world. */
  readonly nowMs: () => number;
  /** Closes it and opens it on the same data, where that has a meaning. */
  readonly reopen?: () => Promise<Keyspace>;
  readonly dispose: () => Promise<void>;
}

export const openMemory: OpenKeyspace = async () => {
  const world = simulatedWorld(1);
  return {
    keyspace: memoryKeyspace(world),
    pass: (ms) => world.advance(ms),
    nowMs: () => world.clock.monotonicNow(),
    dispose: async () => undefined,
  };
};

/** In a directory of its own, with limits so small that segments end and the log is rewritten all the time. */
export const openEmbedded: OpenKeyspace = async () => {
  const world = simulatedWorld(1);
  const directory = await mkdtemp(join(tmpdir(), 'castellan-keyspace-'));
  const open = () => openEmbeddedKeyspace({ directory, world, limits: { segmentBytes: 300, slackBytes: 500 } });
  let keyspace = await open();
  return {
    keyspace,
    pass: (ms) => world.advance(ms),
    nowMs: () => world.clock.monotonicNow(),
    reopen: async () => {
      await keyspace.close();
      keyspace = await open();
      return keyspace;
    },
    dispose: () => rm(directory, { recursive: true }),
  };
};

/** Over an etcd of its own. */
export const openEtcd =
  (program: string): OpenKeyspace =>
  async () => {
    const world = realWorld();
    const etcd = await EtcdProcess.start({ program });
    const open = () => openEtcdKeyspace({ endpoints: [etcd.endpoint], world });
    try {
      let keyspace = await open();
      return {
        keyspace,
        pass: (ms) => world.clock.sleep(ms),
        nowMs: () => world.clock.monotonicNow(),
        reopen: async () => {
          await keyspace.close();
          keyspace = await open();
          return keyspace;
        },
        dispose: () => etcd.remove(),
      };
    } catch (error) {
      await etcd.remove();
      throw error;
    }
  };
