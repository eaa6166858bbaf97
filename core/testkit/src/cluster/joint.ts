import type { RawRequest, RawResponse, Transport } from '@castellan/client';
import { type Status, StatusError } from '@castellan/machinery';
import { type Faults, kindOf, type RequestFate } from './faults.js';
import type { History } from './history.js';
import type { ProcessLife } from './process-life.js';
import { WatchedStream } from './watched-stream.js';

/** How long a request and an event are on their way, in milliseconds: from the first, and up to so much more. */
const latencyMs = { least: 0.3, span: 1.7 };

export interface JointOptions {
  readonly process: ProcessLife;
  readonly faults: Faults;
  readonly history: History;
  /** To the API server that the process uses now. */
  readonly server: () => Promise<Transport>;
}

/**
 * The network between one process and the API server: every request takes its time, is noted in the history, and meets
 * the faults that are placed. To a process that is dead nothing comes any more, not even an error.
 */
export class Joint implements Transport {
  readonly #options: JointOptions;
  readonly #streams = new Set<WatchedStream>();
  #requests = 0;

  constructor(options: JointOptions) {
    this.#options = options;
  }

  async close(): Promise<void> {}

  /** Breaks every watch that is open. */
  cutWatches(): void {
    for (const stream of this.#streams) stream.cut();
  }

  async send(request: RawRequest): Promise<RawResponse> {
    const { process, faults, history } = this.#options;
    await process.alive();
    this.#requests += 1;
    const name = `${this.#requests}`;
    history.note(process.life, 'request', `${name} ${request.method} ${request.path}`);
    await process.network.sleep(this.#latency(), request.signal);
    await process.connected(request.signal);
    const fate = faults.fateOfRequest(process.party, request);
    try {
      const response = await this.#meet(fate, name, request);
      if (kindOf(request) === 'watch' && response.status === 200) return this.#watched(response, request);
      return response;
    } catch (error) {
      await process.alive();
      history.note(process.life, 'reply', `${name} ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }

  async #meet(fate: RequestFate | undefined, name: string, request: RawRequest): Promise<RawResponse> {
    const { process, history } = this.#options;
    if (fate !== undefined) history.note(process.life, 'fault', `${name} ${JSON.stringify(fate)}`);
    switch (fate?.kind) {
      case undefined:
        return await this.#carryOut(name, request);
      case 'answer':
        history.note(process.life, 'reply', `${name} ${fate.code}`);
        return answer(fate.code);
      case 'slow':
        await process.network.sleep(fate.byMs, request.signal);
        await process.connected(request.signal);
        return await this.#carryOut(name, request);
      case 'lost':
        if (fate.isCarriedOut) await this.#carryOut(name, request);
        throw new Error('the connection was reset');
      case 'crash':
        await this.#carryOut(name, request);
        process.crash();
        await process.alive();
        throw new Error('the process is dead');
    }
  }

  async #carryOut(name: string, request: RawRequest): Promise<RawResponse> {
    const { process, history, server } = this.#options;
    const response = await (await server()).send(request);
    const isWatch = kindOf(request) === 'watch';
    const body = isWatch ? undefined : await wholeBody(response);
    const revision = body === undefined ? '' : revisionIn(body);
    history.note(process.life, 'reply', `${name} ${response.status}${revision}`);
    if (kindOf(request) === 'write') {
      if (response.status < 400) process.noteWrite(`${request.method} ${request.path}`);
      await process.network.sleep(this.#latency(), request.signal);
    }
    await process.connected(request.signal);
    return body === undefined ? response : { ...response, body: chunksOf(body) };
  }

  #watched(response: RawResponse, request: RawRequest): RawResponse {
    const stream = new WatchedStream({
      ...this.#options,
      path: request.path,
      latency: () => this.#latency(),
      body: response.body,
      ended: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return { ...response, body: stream.read() };
  }

  #latency(): number {
    return latencyMs.least + this.#options.process.world.random.next() * latencyMs.span;
  }
}

function answer(code: Extract<RequestFate, { kind: 'answer' }>['code']): RawResponse {
  const status = statusOf(code);
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      ...(code === 429 || code === 503 ? { 'retry-after': '1' } : {}),
    },
    body: chunksOf(Buffer.from(JSON.stringify(status))),
  };
}

function statusOf(code: Extract<RequestFate, { kind: 'answer' }>['code']): Status {
  switch (code) {
    case 409:
      return StatusError.of('Conflict', 'the object has been modified; please apply your changes to the latest version')
        .status;
    case 410:
      return StatusError.of('Expired', 'too old resource version').status;
    case 429:
      return StatusError.of('TooManyRequests', 'too many requests, please try again later').status;
    case 500:
      return StatusError.of('InternalError', 'Internal error occurred: simulated').status;
    case 503:
      return StatusError.of('ServiceUnavailable', 'the server is currently unable to handle the request').status;
  }
}

async function wholeBody(response: RawResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

async function* chunksOf(body: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield body;
}

/** Of the object, or of the list. */
function revisionIn(body: Uint8Array): string {
  const head = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  const [, revision] = /"resourceVersion":"(\d+)"/.exec(head) ?? [];
  return revision === undefined ? '' : ` at ${revision}`;
}
