import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Keyspace, memoryKeyspace } from '@castellan/keyspace';
import { realWorld, type World } from '@castellan/world';
import {
  type ApiServer,
  type AuditPolicy,
  type Certificates,
  createApiServer,
  type Encryption,
  ensureCertificates,
  kubeconfigOf,
  type NodeStreams,
  type StaticTokens,
  type UsageSource,
} from '../src/index.js';

/** A server on a free port of the loopback, with a client of its own: what the tests of this package speak to. */
export interface ServerUnderTest {
  readonly world: World;
  readonly keyspace: Keyspace;
  readonly server: ApiServer;
  readonly url: string;
  readonly kubeconfig: string;
  readonly certificates: Certificates;
  readonly directory: string;
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestReply>;
  watch(path: string): TestWatch;
  stop(): Promise<void>;
}

export interface TestReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly json: any;
}

export interface TestWatch {
  /** The next event; fails when none comes within the deadline. */
  next(deadlineMs?: number): Promise<TestWatchEvent>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  readonly status: Promise<number>;
  /** Stops taking what the server sends. */
  pause(): void;
  close(): void;
}

export interface TestWatchEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
  readonly object: any;
}

export async function startServer(
  options: {
    keyspace?: Keyspace;
    nodeStreams?: NodeStreams;
    usage?: UsageSource;
    world?: World;
    encryption?: Encryption;
    staticTokens?: StaticTokens;
    auditLog?: string;
    identity?: { name: string; hostName: string };
    auditPolicy?: AuditPolicy;
  } = {},
): Promise<ServerUnderTest> {
  const world = options.world ?? realWorld();
  const directory = await mkdtemp(join(tmpdir(), 'apiserver-'));
  const certificates = await ensureCertificates({
    directory,
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    world: realWorld(),
  });
  const keyspace = options.keyspace ?? memoryKeyspace(world);
  const { nodeStreams, usage, encryption, staticTokens, auditLog, auditPolicy, identity } = options;
  const server = await createApiServer({
    keyspace,
    world,
    ...(nodeStreams === undefined ? {} : { nodeStreams: () => nodeStreams }),
    ...(usage === undefined ? {} : { usage }),
    ...(encryption === undefined ? {} : { encryption }),
    ...(auditLog === undefined ? {} : { auditLog }),
    ...(identity === undefined ? {} : { identity }),
    ...(auditPolicy === undefined ? {} : { auditPolicy }),
    ...(staticTokens === undefined ? {} : { staticTokens }),
  });
  const tls = {
    key: certificates.serverKey,
    certificate: certificates.serverCertificate,
    clientCa: certificates.caCertificate,
  };
  const { url } = await server.listen({ host: '127.0.0.1', port: 0, tls });
  const session = connect(url, {
    ca: certificates.caCertificate,
    key: certificates.adminKey,
    cert: certificates.adminCertificate,
  });
  session.on('error', () => {});
  // No controllers run here that would make the account by which pods are let in.
  const account = { method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', headers: {} };
  await send(session, { ...account, body: { metadata: { name: 'default' } } });
  return {
    world,
    keyspace,
    server,
    url,
    kubeconfig: kubeconfigOf({ url, ...certificates }),
    certificates,
    directory,
    send: (method, path, body, headers) => send(session, { method, path, body, headers: headers ?? {} }),
    watch: (path) => watch(session, path),
    async stop() {
      session.destroy();
      await server.close();
      await keyspace.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function send(
  session: ClientHttp2Session,
  request: { method: string; path: string; body?: unknown; headers: Readonly<Record<string, string>> },
): Promise<TestReply> {
  const { method, path, body, headers } = request;
  return new Promise((resolve, reject) => {
    const contentType = body === undefined ? {} : { 'content-type': 'application/json' };
    const stream = session.request(
      { ':method': method, ':path': path, ...contentType, ...headers },
      { endStream: body === undefined },
    );
    const reply: Record<string, string> = {};
    let status = 0;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', (head) => {
      status = Number(head[':status']);
      for (const [name, value] of Object.entries(head)) reply[name] = String(value);
    });
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
    stream.on('end', () => resolve({ status, headers: reply, text, json: parsed(text) }));
    stream.on('error', reject);
    if (body !== undefined)
      stream.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function watch(session: ClientHttp2Session, path: string): TestWatch {
  const stream = session.request({ ':method': 'GET', ':path': path });
  const events: TestWatchEvent[] = [];
  let waiting: (() => void) | undefined;
  let rest = '';
  stream.setEncoding('utf8');
  const status = new Promise<number>((resolve) => stream.on('response', (head) => resolve(Number(head[':status']))));
  const ended = new Promise<void>((resolve) => stream.on('close', resolve));
  stream.on('error', () => {});
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) events.push(JSON.parse(line));
    waiting?.();
  });
  return {
    status,
    ended,
    async next(deadlineMs = 30_000) {
      while (events.length === 0) {
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`no event of ${path} within ${deadlineMs} ms`)), deadlineMs);
          waiting = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const [event] = events.splice(0, 1);
      if (event === undefined) throw new Error('an event was announced but is not there');
      return event;
    },
    pause: () => void stream.pause(),
    close: () => stream.close(),
  };
}
