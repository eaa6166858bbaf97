import { type ClientHttp2Session, connect } from 'node:http2';
import { dialProblem } from './probe-http.js';

/** Numbers of google.golang.org/grpc/codes that a health check tells apart. */
const unimplemented = '12';
const deadlineExceeded = '4';
const statusNames = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const serving = 1;
/** A HealthCheckResponse is a few bytes. */
const longestAnswer = 4096;

interface HealthAnswer {
  readonly code: string;
  readonly text: string;
  readonly body: Buffer;
}

/**
 * Asks a server for its health, by the gRPC health checking protocol (grpc.health.v1.Health/Check) without TLS.
 * Rejects in kubelet's words unless the service is SERVING.
 */
export async function checkHealth(address: string, service: string, deadlineMs: number): Promise<void> {
  const signal = AbortSignal.timeout(deadlineMs);
  const session = connect(`http://${address}`);
  try {
    const { code, text, body } = await call(session, { address, service, deadlineMs, signal });
    if (code === unimplemented) {
      throw new Error(
        `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${text}`,
      );
    }
    if (code === deadlineExceeded) throw lateAnswer(deadlineMs);
    if (code !== '0') throw new Error(`error: health rpc probe failed: rpc error: code = ${code} desc = ${text}`);
    const status = healthStatus(body);
    if (status !== serving) {
      throw new Error(`service unhealthy (responded with "${statusNames[status] ?? String(status)}")`);
    }
  } finally {
    session.destroy();
  }
}

function call(
  session: ClientHttp2Session,
  wish: {
    readonly address: string;
    readonly service: string;
    readonly deadlineMs: number;
    readonly signal: AbortSignal;
  },
): Promise<HealthAnswer> {
  const { address, service, deadlineMs, signal } = wish;
  return new Promise((resolve, reject) => {
    let isConnected = false;
    signal.addEventListener('abort', () => {
      const late = `timeout: failed to connect service "${address}" within ${deadlineMs / 1000}s`;
      reject(isConnected ? lateAnswer(deadlineMs) : new Error(late));
    });
    const fail = (error: Error) => {
      // A request that waited for the connection says only that it was taken back.
      const problem = dialProblem(error.cause instanceof Error ? error.cause : error, address);
      reject(new Error(`error: failed to connect service at "${address}": ${problem}`));
    };
    session.once('connect', () => {
      isConnected = true;
    });
    session.once('error', fail);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      'user-agent': 'kube-probe/1.36',
      te: 'trailers',
      'grpc-timeout': `${deadlineMs}m`,
    });
    const chunks: Buffer[] = [];
    let received = 0;
    let ended = { code: '2', text: 'the server ended the call without a status' };
    // A server that has nothing to say but a status says it in the headers.
    const note = (headers: Readonly<Record<string, unknown>>) => {
      if (headers['grpc-status'] === undefined) return;
      ended = { code: String(headers['grpc-status']), text: messageOf(headers['grpc-message']) };
    };
    stream.once('response', note);
    stream.once('trailers', note);
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      received += chunk.length;
      if (received > longestAnswer) stream.destroy(new Error(`the answer is longer than ${longestAnswer} bytes`));
    });
    stream.once('error', fail);
    stream.once('end', () => resolve({ ...ended, body: Buffer.concat(chunks) }));
    stream.end(frame(healthRequest(service)));
  });
}

/** Percent-encoded, by a server that keeps to the protocol. */
function messageOf(header: unknown): string {
  const text = String(header ?? '');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function lateAnswer(deadlineMs: number): Error {
  return new Error(`timeout: health rpc did not complete within ${deadlineMs / 1000}s`);
}

/** HealthCheckRequest: field 1 is the service's name. */
function healthRequest(service: string): Buffer {
  const name = Buffer.from(service);
  if (name.length === 0) return name;
  return Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
}

/** HealthCheckResponse: field 1 is the status; 0 is not written. */
function healthStatus(body: Buffer): number {
  const message = body.subarray(frameHeaderBytes);
  return message.length >= 2 && message[0] === 0x08 ? (message[1] ?? 0) : 0;
}

const frameHeaderBytes = 5;

/** A message on a gRPC stream: not compressed, and its length. */
function frame(message: Buffer): Buffer {
  const header = Buffer.alloc(frameHeaderBytes);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
