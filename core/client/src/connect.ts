import { realWorld, type World } from '@castellan/world';
import type { Client } from './client.js';
import type { ClusterConfig } from './config/cluster-config.js';
import { ConfigError } from './errors.js';
import type { Reply } from './exchange.js';
import { HttpClient } from './http-client.js';
import { http1Transport } from './transport/http1-transport.js';
import { http2Transport } from './transport/http2-transport.js';
import type { Transport } from './transport/transport.js';

export interface ConnectOptions {
  readonly world?: World;
  /** Carries the requests instead of the network. */
  readonly transport?: Transport;
  /** Up to its first `/` this is the field manager of writes that name none. */
  readonly userAgent?: string;
  /** For a whole request and its reply; for watches and raw requests until the reply begins. 30 s by default. */
  readonly deadlineMs?: number;
  /** Told of every reply, retries among them, and of every request that had none. */
  readonly onReply?: (reply: Reply) => void;
}

/** A client of the API server that `config` names. No connection is made before the first request. */
export function connect(config: ClusterConfig, options: ConnectOptions = {}): Client {
  const world = options.world ?? realWorld();
  return new HttpClient({
    config,
    world,
    transport: options.transport ?? networkTransport(config, world),
    userAgent: options.userAgent ?? 'castellan',
    deadlineMs: options.deadlineMs ?? 30_000,
    ...(options.onReply === undefined ? {} : { onReply: options.onReply }),
  });
}

function networkTransport(config: ClusterConfig, world: World): Transport {
  const server = serverUrl(config.server);
  if (server.protocol === 'http:') return http1Transport(server, {});
  const tls = {
    ...(config.caCertificate === undefined ? {} : { ca: config.caCertificate }),
    ...(config.clientCertificate === undefined ? {} : { cert: config.clientCertificate }),
    ...(config.clientKey === undefined ? {} : { key: config.clientKey }),
    ...(config.insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  };
  return http2Transport(server, { world, tls });
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw new ConfigError(`"${text}" is not the address of a server: it must begin with https:// or http://`);
}
