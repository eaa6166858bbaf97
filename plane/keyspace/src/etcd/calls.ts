import * as messages from './messages.js';
import type { Message } from './protobuf.js';

/** One procedure of etcd's API: its path, and its request and response. */
export interface Procedure<Request, Response> {
  readonly path: string;
  readonly request: Message<Request>;
  readonly response: Message<Response>;
  /** Requests and answers are streams. */
  readonly isStreaming: boolean;
}

function procedure<Request, Response>(
  path: string,
  request: Message<Request>,
  response: Message<Response>,
  isStreaming = false,
): Procedure<Request, Response> {
  return { path: `/etcdserverpb.${path}`, request, response, isStreaming };
}

/** Source: the services of etcd 3.4's rpc.proto. */
export const procedures = {
  range: procedure('KV/Range', messages.rangeRequest, messages.rangeResponse),
  transaction: procedure('KV/Txn', messages.transactionRequest, messages.transactionResponse),
  compact: procedure('KV/Compact', messages.compactionRequest, messages.compactionResponse),
  watch: procedure('Watch/Watch', messages.watchRequest, messages.watchResponse, true),
  grantLease: procedure('Lease/LeaseGrant', messages.leaseGrantRequest, messages.leaseGrantResponse),
  revokeLease: procedure('Lease/LeaseRevoke', messages.leaseRevokeRequest, messages.leaseRevokeResponse),
  keepLeaseAlive: procedure(
    'Lease/LeaseKeepAlive',
    messages.leaseKeepAliveRequest,
    messages.leaseKeepAliveResponse,
    true,
  ),
  status: procedure('Maintenance/Status', messages.statusRequest, messages.statusResponse),
} as const;
