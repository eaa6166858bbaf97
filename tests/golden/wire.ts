import http from 'node:http';
import https from 'node:https';
import { type ClusterConfig, loadKubeconfig } from '@castellan/client';
import type { RecordedRequest } from './transcript.js';

/** A reply as transcripts hold it: JSON is parsed, other bodies are text, a watch is the list of its events. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<http.IncomingHttpHeaders>;
  readonly body: unknown;
  /** Who ended a watch: `count` we, having seen enough; `timeout` we, being tired of waiting; or the `server`. */
  readonly ended?: string;
}

const replyDeadlineMs = 60_000;
const watchDeadlineMs = 5_000;

/** Sends recorded requests as they were sent when they were recorded: HTTP/1.1, nothing in between. */
export class Wire {
  readonly server: URL;
  readonly #token: string | undefined;
  readonly #administrator: http.Agent;
  readonly #nobody: http.Agent;

  private constructor(config: ClusterConfig) {
    this.server = new URL(config.server);
    this.#token = config.token;
    const { Agent } = this.server.protocol === 'http:' ? http : https;
    const tls = {
      keepAlive: true,
      ...(config.caCertificate === undefined ? {} : { ca: config.caCertificate }),
      ...(config.insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
    };
    this.#nobody = new Agent(tls);
    this.#administrator = new Agent({ ...tls, cert: config.clientCertificate, key: config.clientKey });
  }

  static async open(kubeconfig: string): Promise<Wire> {
    return new Wire(await loadKubeconfig(kubeconfig));
  }

  close(): void {
    this.#administrator.destroy();
    this.#nobody.destroy();
  }

  /** Resolves when the reply has ended; that of a watch, when the watch has. */
  async send(recorded: RecordedRequest): Promise<Reply> {
    return await (await this.open(recorded)).reply;
  }

  /** Resolves when the reply has begun. */
  open(recorded: RecordedRequest): Promise<{ readonly reply: Promise<Reply> }> {
    return new Promise((resolve, reject) => {
      const request = this.#request(recorded, (response) => resolve({ reply: readReply(response, recorded) }));
      const what = `${recorded.method} ${recorded.path}`;
      request.setTimeout(replyDeadlineMs, () =>
        request.destroy(new Error(`${what}: no reply in ${replyDeadlineMs} ms`)),
      );
      request.on('error', reject);
      request.end(recorded.body === undefined ? undefined : bodyText(recorded.body));
    });
  }

  #request(recorded: RecordedRequest, onResponse: (response: http.IncomingMessage) => void): http.ClientRequest {
    const { method, path, query = {}, auth } = recorded;
    const { hostname, port, pathname, protocol } = this.server;
    const search = new URLSearchParams(query).toString();
    const joined = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
    const options = {
      method,
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: pathname.replace(/\/$/, '') + joined,
      headers: this.#headers(recorded),
      agent: auth === undefined ? this.#administrator : this.#nobody,
    };
    return (protocol === 'http:' ? http : https).request(options, onResponse);
  }

  #headers({ headers = {}, body, auth }: RecordedRequest): http.OutgoingHttpHeaders {
    const isTypeless = body !== undefined && !Object.keys(headers).some((name) => /^content-type$/i.test(name));
    return {
      'User-Agent': 'golden/1.0',
      Accept: 'application/json',
      ...(isTypeless ? { 'Content-Type': 'application/json' } : {}),
      // Node would send the body of a DELETE without saying how long it is.
      ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(bodyText(body)) }),
      ...(auth === undefined && this.#token !== undefined ? { Authorization: `Bearer ${this.#token}` } : {}),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, mutable(value)])),
    };
  }
}

function mutable(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? value : [...value];
}

function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

async function readReply(response: http.IncomingMessage, { watch }: RecordedRequest): Promise<Reply> {
  const { headers, statusCode: status = 0 } = response;
  if (watch !== undefined && status === 200) return { status, headers, ...(await readEvents(response, watch)) };
  return { status, headers, body: parsed(await readText(response), headers) };
}

async function readText(response: http.IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string, headers: http.IncomingHttpHeaders): unknown {
  if (!(headers['content-type'] ?? '').includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function readEvents(
  response: http.IncomingMessage,
  { count = Number.POSITIVE_INFINITY, timeoutMs = watchDeadlineMs }: NonNullable<RecordedRequest['watch']>,
): Promise<Pick<Reply, 'body' | 'ended'>> {
  return new Promise((resolve, reject) => {
    const events: unknown[] = [];
    let rest = '';
    const end = (ended: string): void => {
      clearTimeout(timer);
      response.destroy();
      resolve({ body: events, ended });
    };
    const timer = setTimeout(() => end('timeout'), timeoutMs);
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.trim() !== '') events.push(JSON.parse(line));
        if (events.length >= count) return end('count');
      }
    });
    response.on('end', () => end('server'));
    response.on('error', reject);
  });
}
