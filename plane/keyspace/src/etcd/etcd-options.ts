import type { World } from '@castellan/world';

export interface EtcdKeyspaceOptions {
  /** HOST:PORT of one or more members of one etcd cluster, version 3.4 or later. */
  readonly endpoints: readonly string[];
  /** The real one: etcd's time cannot be simulated. */
  readonly world: World;
  /**
   * Put before every key, so that several keyspaces fit into one etcd; none by default. They share its revisions, its
   * compaction, and every one of them is told of every change.
   */
  readonly prefix?: string;
  /** Without it, connections are not encrypted. */
  readonly tls?: EtcdTls;
  /** Told what a person should know and nothing has to wait for: a watch that was lost, a watch that goes on. */
  readonly onNotice?: (message: string) => void;
}

/** PEM texts. */
export interface EtcdTls {
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
}
