import type { KeyEvent, LeaseId, Revision } from '../keyspace.js';

/**
 * What one write operation does, as it is logged and applied. Each entry takes effect whole or not at all; the state of
 * a keyspace is the result of its entries in order.
 */
export type Entry =
  | { readonly type: 'changes'; readonly revision: Revision; readonly events: readonly KeyEvent[] }
  | { readonly type: 'lease-granted'; readonly lease: LeaseId; readonly ttlSeconds: number }
  | { readonly type: 'lease-ended'; readonly lease: LeaseId }
  | { readonly type: 'compacted'; readonly revision: Revision };
