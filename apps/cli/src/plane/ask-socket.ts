import { request } from 'node:http';

export interface Question {
  readonly socketPath?: string;
  readonly host?: string;
  readonly port?: string;
  /** GET by default. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly deadlineMs: number;
}

/** Somebody answered, and refused: the message is theirs. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Asks a process that listens on a Unix socket or an address, over HTTP. Rejects when nobody answers, or with a `RefusedError`. */
export function ask({ deadlineMs, ...question }: Question): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = request({ ...question, signal: AbortSignal.timeout(deadlineMs) }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (reply.statusCode === 200) resolve(text);
        else reject(new RefusedError(reply.statusCode ?? 0, text.trim()));
      });
    });
    asking.on('error', reject);
    asking.end();
  });
}
