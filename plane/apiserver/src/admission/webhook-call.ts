import type { ClientRequest, IncomingMessage } from 'node:http';
import { exactJson, isIpAddress, parseExactJson } from '@castellan/machinery';
import { at, count, type JsonRecord, record, records, text } from '../json.js';
import type { Server } from '../request/server.js';
import { storageKey } from '../storage/keys.js';

/** A webhook could not be asked, or said nothing that can be understood. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
}

/** A reply that says that the webhook failed, in the words of Go's client of API servers. */
class FailedReplyError extends Error {
  override readonly name = 'FailedReplyError';

  constructor({ statusCode: code = 0, headers }: IncomingMessage, body: string) {
    const isText = /^text\//.test(headers['content-type'] ?? '');
    const said = JSON.stringify(isText ? body.trim() : 'unknown');
    super(
      code >= 500
        ? `an error on the server (${said}) has prevented the request from succeeding`
        : `the server responded with the status code ${code} but did not return more information`,
    );
  }
}

interface Target {
  /** As it stands in messages. */
  readonly url: URL;
  /** Where the connection goes, where that is not the host of the URL. */
  readonly host: string;
  readonly port: number;
}

const maxReplyBytes = 3 * 1024 * 1024;

/** POSTs an AdmissionReview and gives back the `response` of the one that is replied. */
export async function callWebhook(server: Services, webhook: JsonRecord, review: JsonRecord): Promise<JsonRecord> {
  const options = { timeoutSeconds: count(webhook.timeoutSeconds) ?? 10, maxReplyBytes };
  const understood = (reply: unknown): JsonRecord => {
    if (at(reply, 'kind') !== 'AdmissionReview') throw new Error('the reply is not an AdmissionReview');
    const response = record(at(reply, 'response'));
    if (response.uid !== at(review, 'request', 'uid'))
      throw new Error('expected response.uid to be that of the request');
    return response;
  };
  try {
    return await postReview(server, record(webhook.clientConfig), review, { ...options, understood });
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    throw new WebhookCallError(`failed to call webhook: ${error.message}`, { cause: error });
  }
}

/** Where the services and endpoints are that a client configuration names. */
type Services = Pick<Server, 'registry'>;

/** POSTs a review of any kind to where `config` says. @throws WebhookCallError `Post "https://…": …` */
export async function postReview<T>(
  server: Services,
  config: JsonRecord,
  review: JsonRecord,
  options: {
    readonly timeoutSeconds: number;
    readonly maxReplyBytes: number;
    /** What the reply says; throws where it is not what was asked for. */
    readonly understood: (reply: unknown) => T;
  },
): Promise<T> {
  const shown = shownUrl(config);
  shown.searchParams.set('timeout', `${options.timeoutSeconds}s`);
  try {
    const target = await targetOf(server, config, shown);
    const reply: unknown = parseExactJson(await post(target, text(config.caBundle), exactJson(review), options));
    return options.understood(reply);
  } catch (error) {
    const where = error instanceof FailedReplyError ? '' : `Post "${shown.href}": `;
    throw new WebhookCallError(`${where}${problemOf(error, shown)}`, { cause: error });
  }
}

function shownUrl(config: JsonRecord): URL {
  const url = text(config.url);
  if (url !== undefined) return new URL(url);
  const { service } = config;
  const host = `${text(at(service, 'name')) ?? ''}.${text(at(service, 'namespace')) ?? ''}.svc`;
  const path = text(at(service, 'path')) ?? '/';
  const shown = new URL(`https://${host}${path.startsWith('/') ? path : `/${path}`}`);
  // Shown with its port, though 443 is the one that goes without saying.
  Object.defineProperty(shown, 'href', {
    get: () => `https://${host}:${count(at(service, 'port')) ?? 443}${shown.pathname}${shown.search}`,
  });
  return shown;
}

/** Where a service is: one of its endpoints, since this process may be where no service address leads. */
async function targetOf(server: Services, config: JsonRecord, url: URL): Promise<Target> {
  if (config.service === undefined) return { url, host: url.hostname, port: Number(url.port || 443) };
  const name = text(at(config.service, 'name')) ?? '';
  const namespace = text(at(config.service, 'namespace')) ?? '';
  const port = count(at(config.service, 'port')) ?? 443;
  const read = async (plural: string) => {
    const { store } = server.registry.builtin('', 'v1', plural);
    return await store.storage.get(storageKey(store.layout, { namespace, name }));
  };
  const service = await read('services');
  if (service === undefined) throw new Error(`service "${name}" not found`);
  const wanted = records(at(service, 'spec', 'ports')).find((each) => each.port === port);
  if (wanted === undefined) throw new Error(`no service port ${port} found for service "${name}"`);
  for (const subset of records((await read('endpoints'))?.subsets)) {
    const address = text(at(records(subset.addresses)[0], 'ip'));
    const found = records(subset.ports).find((each) => (text(each.name) ?? '') === (text(wanted.name) ?? ''));
    const number = count(found?.port);
    if (address !== undefined && number !== undefined) return { url, host: address, port: number };
  }
  throw new Error(`no endpoints available for service "${name}"`);
}

async function post(
  target: Target,
  caBundle: string | undefined,
  body: string,
  { timeoutSeconds, maxReplyBytes }: { readonly timeoutSeconds: number; readonly maxReplyBytes: number },
): Promise<string> {
  const { request } = await import('node:https');
  const { url, host, port } = target;
  return await new Promise((resolve, reject) => {
    const sent: ClientRequest = request(
      {
        host,
        port,
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        // An address is no name to ask a certificate for.
        ...(isIpAddress(url.hostname) ? {} : { servername: url.hostname }),
        headers: {
          host: url.host,
          'content-type': 'application/json',
          accept: 'application/json',
          'content-length': Buffer.byteLength(body),
        },
        ...(caBundle === undefined || caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64') }),
        signal: AbortSignal.timeout(timeoutSeconds * 1000),
      },
      (reply) => readReply(reply, maxReplyBytes).then(resolve, reject),
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function readReply(reply: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of reply) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the reply is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks).toString('utf8');
  if (reply.statusCode !== 200) throw new FailedReplyError(reply, body);
  return body;
}

/** What went wrong on the wire, in the words of Go's HTTP client where clients read those. */
function problemOf(error: unknown, url: URL): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED') return `dial tcp ${url.hostname}:${url.port || 443}: connect: connection refused`;
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'context deadline exceeded';
  return error.message;
}
