import {
  Client,
  type ClientDuplexStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { type Procedure, procedures } from './calls.js';
import type { EtcdTls } from './etcd-options.js';

const channelOptions = {
  // Pages of large values; how many keys a page has is limited instead.
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // A connection that is silently dead is noticed. etcd takes pings every 5 s at most.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // What is repeated is decided by us, because a write must not be.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
};

/** One member of the etcd cluster, with one connection that is made again whenever it is lost. */
export class Endpoint {
  readonly #client: Client;

  constructor(
    /** HOST:PORT */
    readonly address: string,
    tls: EtcdTls | undefined,
  ) {
    this.#client = new Client(address, channelCredentials(tls), channelOptions);
  }

  get isConnected(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** Rejects when there is no connection by then. */
  connected(deadline: Date): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(deadline, (error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  /** Of a procedure with streams: one request and the first answer. Rejects with a `ServiceError`. */
  call<Request, Response>(
    procedure: Procedure<Request, Response>,
    request: Partial<Request>,
    deadline: Date,
  ): Promise<Response> {
    return procedure.isStreaming
      ? this.#exchange(procedure, request, deadline)
      : this.#callOnce(procedure, request, deadline);
  }

  #callOnce<Request, Response>(
    { path, request, response }: Procedure<Request, Response>,
    argument: Partial<Request>,
    deadline: Date,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<Partial<Request>, Response>(
        path,
        (value) => request.encode(value),
        (encoded) => response.decode(encoded),
        argument,
        onlyWithLeader(),
        { deadline },
        (error, value) => {
          if (error !== null) reject(error);
          else if (value !== undefined) resolve(value);
        },
      );
    });
  }

  async #exchange<Request, Response>(
    procedure: Procedure<Request, Response>,
    request: Partial<Request>,
    deadline: Date,
  ): Promise<Response> {
    const stream = this.openStream(procedure, deadline);
    try {
      return await new Promise((resolve, reject) => {
        stream.on('data', resolve);
        stream.on('error', reject);
        stream.on('end', () => reject(new Error(`${this.address} ended ${procedure.path} without an answer`)));
        stream.write(request);
      });
    } finally {
      stream.cancel();
    }
  }

  /** For people. gRPC tells it with the failure of a call only. */
  async whyNotConnected(deadline: Date): Promise<string> {
    try {
      await this.call(procedures.status, {}, deadline);
      return `${this.address} was connected too late`;
    } catch (error) {
      if (!isServiceError(error) || error.code === status.DEADLINE_EXCEEDED) return `no answer from ${this.address}`;
      const [, lastError = error.details] =
        /Last error: (?:Error: )?(.*?)\. Resolution note/s.exec(error.details) ?? [];
      return lastError;
    }
  }

  /** The caller ends it with `cancel()`. */
  openStream<Request, Response>(
    { path, request, response }: Procedure<Request, Response>,
    deadline?: Date,
  ): ClientDuplexStream<Partial<Request>, Response> {
    return this.#client.makeBidiStreamRequest(
      path,
      (value) => request.encode(value),
      (encoded) => response.decode(encoded),
      onlyWithLeader(),
      deadline === undefined ? {} : { deadline },
    );
  }

  close(): void {
    this.#client.close();
  }
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && 'details' in error;
}

/** A member that has lost its leader refuses the call, or ends the stream, instead of being silent. */
function onlyWithLeader(): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  return metadata;
}

function channelCredentials(tls: EtcdTls | undefined) {
  if (tls === undefined) return credentials.createInsecure();
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.certificate));
}
