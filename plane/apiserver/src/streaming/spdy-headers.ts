import { constants, createInflate, type Inflate } from 'node:zlib';
import { spdyDictionary } from './spdy-dictionary.js';
import { SpdyError } from './spdy-frames.js';

const blockLimitBytes = 64 * 1024;

/** Reads the header blocks of a connection, which are one zlib stream cut into pieces: in order, and each of them. */
export class SpdyHeaders {
  readonly #inflate: Inflate;
  #plain: Buffer[] = [];
  #bytes = 0;
  #fail: (error: Error) => void = () => undefined;

  constructor() {
    this.#inflate = createInflate({ dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH });
    this.#inflate.on('error', (error) => this.#fail(error));
    this.#inflate.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      if (this.#bytes <= blockLimitBytes) this.#plain.push(chunk);
      else this.#fail(new SpdyError(`headers of more than ${blockLimitBytes} bytes`));
    });
  }

  /** Names in lower case. Fails with `SpdyError`. */
  async read(block: Buffer): Promise<ReadonlyMap<string, string>> {
    this.#plain = [];
    this.#bytes = 0;
    await new Promise<void>((resolve, reject) => {
      this.#fail = (error) => reject(error instanceof SpdyError ? error : new SpdyError(error.message));
      this.#inflate.write(block, (error) => (error ? reject(new SpdyError(error.message)) : resolve()));
    });
    return parsed(Buffer.concat(this.#plain));
  }

  close(): void {
    this.#inflate.destroy();
  }
}

function parsed(block: Buffer): ReadonlyMap<string, string> {
  let position = 0;
  const number = () => {
    if (position + 4 > block.length) throw new SpdyError('a header block ends within a length');
    position += 4;
    return block.readUInt32BE(position - 4);
  };
  const text = () => {
    const length = number();
    if (position + length > block.length) throw new SpdyError('a header block ends within a text');
    position += length;
    return block.toString('latin1', position - length, position);
  };
  const headers = new Map<string, string>();
  for (let left = number(); left > 0; left -= 1) {
    const name = text().toLowerCase();
    headers.set(name, text());
  }
  return headers;
}
