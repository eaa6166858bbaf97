export type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RawRequest,
  RawResponse,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.js';
export type { ClusterConfig } from './config/cluster-config.js';
export { type InClusterOptions, inClusterConfig } from './config/in-cluster.js';
export { loadKubeconfig } from './config/kubeconfig.js';
export { type ConnectOptions, connect } from './connect.js';
export { type Deadline, startDeadline } from './deadline.js';
export { ConfigError, ConnectionError, type ConnectionFailure, connectionFailures } from './errors.js';
export type { Reply } from './exchange.js';
export type { Transport } from './transport/transport.js';
export { unlessAborted } from './unless-aborted.js';
