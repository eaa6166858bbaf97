import { type Duplex, Readable } from 'node:stream';
import { exactJson, type Status, StatusError } from '@castellan/machinery';
import type { ResponseWriter } from '../server/http.js';
import { plainJson, type Representation } from './negotiation.js';
import { PackedBody } from './packed-body.js';
import { copiesOf, givePieceBack, sendPieces, takePiece } from './pieces.js';
import { sendChunks } from './send-chunks.js';
import { storageFailure } from './storage-failure.js';

/** Smaller replies are not worth the work. */
const gzipFromBytes = 128 * 1024;
/** It is done in another thread; this level saves nine tenths and takes a third of the time of the usual one. */
const gzipLevel = 1;

interface ReplyOptions {
  readonly auditId: string;
  /** The request's `accept-encoding`. */
  readonly acceptedEncodings?: string | undefined;
  readonly listener?: ReplyListener | undefined;
}

/** Hears what replies consist of, before they are packed. */
interface ReplyListener {
  replied(object: unknown): void;
  repliedPart(bytes: Uint8Array): void;
}

/** Headers that every reply of a request carries: its audit id, and the warnings that came up on the way. */
export class Reply {
  private readonly writer: ResponseWriter;
  private readonly auditId: string;
  private readonly takesGzip: boolean;
  private readonly listener: ReplyListener | undefined;
  private readonly warnings: string[] = [];
  private isStarted = false;

  constructor(writer: ResponseWriter, { auditId, acceptedEncodings = '', listener }: ReplyOptions) {
    this.takesGzip = /(?:^|,)\s*gzip\s*(?:,|;\s*q=(?:1|0\.0*[1-9])|$)/i.test(acceptedEncodings);
    this.writer = writer;
    this.auditId = auditId;
    this.listener = listener;
  }

  get hasStarted(): boolean {
    return this.isStarted;
  }

  /** A line that kubectl shows beside the result. */
  warn(warning: string): void {
    if (!this.warnings.includes(warning)) this.warnings.push(warning);
  }

  async object(status: number, object: unknown, representation: Representation = plainJson): Promise<void> {
    this.listener?.replied(object);
    if (representation.format === 'yaml') {
      const { yamlText } = await import('./yaml-reply.js');
      this.text(status, yamlText(object), 'application/yaml');
      return;
    }
    const body = `${exactJson(object)}\n`;
    if (!this.takesGzip || body.length <= gzipFromBytes) return this.text(status, body, 'application/json');
    const { gzip } = await import('node:zlib');
    const packed = await new Promise<Uint8Array>((resolve, reject) => {
      gzip(body, { level: gzipLevel }, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
    });
    this.text(status, packed, 'application/json', { 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  }

  /** A JSON body of 200 that is made while it is sent. One of a single piece is sent as a whole. */
  async parts(parts: Iterable<Uint8Array>): Promise<void> {
    const body = new PackedBody(this.listener === undefined ? parts : heardParts(parts, this.listener));
    const piece = takePiece();
    const begin = body.read(piece);
    if (body.isAtEnd) {
      const whole = Buffer.from(piece.subarray(0, begin));
      givePieceBack(piece);
      return this.text(200, whole, 'application/json');
    }
    if (!this.takesGzip) return await sendPieces(this.stream('application/json'), body, { piece, begin });
    const { createGzip } = await import('node:zlib');
    const packer = createGzip({ level: gzipLevel });
    Readable.from(copiesOf(body, { piece, begin })).pipe(packer);
    this.head(200, { 'content-type': 'application/json', 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    await sendChunks(this.writer, packer);
  }

  text(
    status: number,
    body: string | Uint8Array,
    contentType: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const length = String(Buffer.byteLength(body));
    this.head(status, { 'content-type': contentType, 'content-length': length, ...headers });
    this.writer.end(body);
  }

  /** A status and nothing else. */
  empty(status: number): void {
    this.head(status, { 'content-length': '0' });
    this.writer.end('');
  }

  /** The head of a reply whose body follows piece by piece. */
  stream(contentType: string): ResponseWriter {
    this.head(200, { 'content-type': contentType });
    return this.writer;
  }

  /** The head of another server's reply, whose body follows. */
  passOn(status: number, headers: Readonly<Record<string, string>>): ResponseWriter {
    this.head(status, headers);
    return this.writer;
  }

  /** Leaves HTTP: the connection's bytes are the caller's. Only where the request asks for it (`ApiRequest.upgrade`). */
  switchProtocols(headers: Readonly<Record<string, string>>): Duplex {
    if (this.writer.switchProtocols === undefined) throw new Error('this transport cannot change its protocol');
    this.isStarted = true;
    return this.writer.switchProtocols({ 'audit-id': this.auditId, ...headers });
  }

  failure(status: Status, representation: Representation = plainJson): Promise<void> {
    const code = status.code ?? 500;
    if (this.isStarted) {
      this.writer.end();
      return Promise.resolve();
    }
    this.retryAfterSeconds = status.details?.retryAfterSeconds;
    return this.object(code, status, representation.format === 'yaml' ? representation : plainJson);
  }

  private retryAfterSeconds: number | undefined;

  private head(status: number, headers: Readonly<Record<string, string>>): void {
    this.isStarted = true;
    const warning = this.warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
    this.writer.head(status, {
      'audit-id': this.auditId,
      'cache-control': 'no-cache, private',
      ...(warning === '' ? {} : { warning }),
      ...(this.retryAfterSeconds === undefined ? {} : { 'retry-after': String(this.retryAfterSeconds) }),
      ...headers,
    });
  }
}

function* heardParts(parts: Iterable<Uint8Array>, listener: ReplyListener): Generator<Uint8Array, void> {
  for (const part of parts) {
    listener.repliedPart(part);
    yield part;
  }
}

/** Any failure as the Status that clients are sent. Texts of bugs stay in the log. */
export function statusOf(error: unknown): Status {
  if (error instanceof StatusError) return error.status;
  const failure = storageFailure(error);
  if (failure !== undefined) return failure.status;
  const message = error instanceof Error ? error.message : String(error);
  return StatusError.of('InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  }).status;
}
