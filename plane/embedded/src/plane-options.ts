import type { Log, Operator } from '@castellan/runtime';
import type { World } from '@castellan/world';
import type { NodesWish } from './remembered-nodes.js';
import type { Storage } from './storage-place.js';

export interface PlaneOptions {
  /** Everything that must outlive the process: the keyspace, certificates, pods' volumes and sandbox records. */
  readonly dataDirectory: string;
  /** Where the objects are: unless told where they were before, at first embedded. Several planes may share an etcd. */
  readonly storage?: Storage;
  /** Path of an EncryptionConfiguration; unless told the one that was used before, at first none. */
  readonly encryptionConfiguration?: string;
  /** Path of a file of bearer tokens, as `readTokenFile` of the API server reads it. */
  readonly tokenAuthFile?: string;
  /** Path of a file to which the audit log is appended; absent: none is kept. */
  readonly auditLog?: string;
  /** Path of a Policy of audit.k8s.io/v1: what is told there; absent: every request, and no bodies. */
  readonly auditPolicyFile?: string;
  /** Of the API server on loopback. 0 lets the system choose. */
  readonly port: number;
  readonly world: World;
  readonly log: Log;
  /** Run nodes on this machine, so that pods become processes. Without them pods stay Pending. */
  readonly node: boolean;
  /** How many nodes, and in which zones; what is absent is as it was at the start before, at first one node. */
  readonly nodes?: NodesWish;
  /** Run controllers and scheduler. Without them nothing changes by itself: an API server and its storage alone. */
  readonly controllers: boolean;
  readonly operators: readonly Operator[];
  /** Called as each phase of the start ends, with the time it took. */
  onPhase?(phase: Phase): void;
  /** A part of the plane failed while it ran; the plane is of no further use and should be stopped. */
  onFailure?(error: Error): void;
}

export interface Phase {
  readonly name: string;
  readonly ms: number;
}
