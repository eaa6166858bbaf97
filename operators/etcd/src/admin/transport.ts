import { request } from 'node:http';

export interface PostOptions {
  /** Milliseconds after which the request has failed. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export interface PostReply {
  readonly status: number;
  readonly body: string;
}

/** Sends one JSON document and gives back the reply, whatever its status. Rejects when there was none in time. */
export type JsonPost = (url: string, body: string, options: PostOptions) => Promise<PostReply>;

/** etcd's answers to an operator are small; anything longer is not one. */
const longestReplyBytes = 4 * 1024 * 1024;

/** Each request on a connection of its own: a member that was replaced never answers in another's name. */
export const postOverHttp: JsonPost = (url, body, { deadlineMs, signal }) => {
  const deadline = AbortSignal.timeout(deadlineMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request(url, { method: 'POST', headers, agent: false, signal: either }, (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > longestReplyBytes)
          incoming.destroy(new Error(`the reply is longer than ${longestReplyBytes} bytes`));
      });
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') });
      });
      incoming.on('error', reject);
    });
    outgoing.on('error', (error) => {
      reject(deadline.aborted ? new Error(`no answer in ${deadlineMs} ms`, { cause: error }) : error);
    });
    outgoing.end(body);
  });
};
