// Connections to the API server that a kubeconfig names: HTTP/2 as Go's clients speak it, HTTP/1.1 for whole lists.
import { connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { loadKubeconfig } from '@castellan/client';

/** Of the current context: the server and an administrator's certificate. */
export async function readKubeconfig(path) {
  const { server, caCertificate, clientCertificate, clientKey } = await loadKubeconfig(path);
  return { server, tls: { ca: caCertificate, cert: clientCertificate, key: clientKey } };
}

/** One HTTP/2 connection. */
export class Connection {
  #session;

  constructor({ server, tls }) {
    this.#session = connect(server, tls);
    this.#session.on('error', () => {});
  }

  /** Resolves with the body; rejects for another status than `expected`. */
  send(method, path, { body, expected = 200, type = 'application/json' } = {}) {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request(
        { ':method': method, ':path': path, 'content-type': type, accept: 'application/json' },
        { endStream: body === undefined },
      );
      let status = 0;
      const chunks = [];
      stream.on('response', (headers) => (status = headers[':status']));
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (status === expected) resolve(text);
        else reject(new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`));
      });
      stream.on('error', reject);
      if (body !== undefined) stream.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  }

  /** Calls `onEvent` with each event of a watch and the time it came. Resolves when the server has begun it. */
  async watch(path, onEvent) {
    const stream = this.#session.request({ ':path': path, accept: 'application/json' });
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('error', () => {});
    stream.on('data', (chunk) => {
      const nowMs = performance.now();
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const line of lines) onEvent(JSON.parse(line), nowMs);
    });
    await new Promise((resolve) => stream.once('response', resolve));
  }

  close() {
    this.#session.destroy();
  }
}

/** A GET over HTTP/1.1: milliseconds until the first byte of the body and until its end, and its size. */
export function getOverHttp1({ server, tls }, path, agent) {
  return new Promise((resolve, reject) => {
    const begunMs = performance.now();
    const call = request(new URL(path, server), { ...tls, agent, headers: { accept: 'application/json' } }, (reply) => {
      let firstMs;
      let bytes = 0;
      reply.on('data', (chunk) => {
        firstMs ??= performance.now() - begunMs;
        bytes += chunk.length;
      });
      reply.on('end', () => {
        if (reply.statusCode === 200) resolve({ firstMs, totalMs: performance.now() - begunMs, bytes });
        else reject(new Error(`GET ${path}: ${reply.statusCode}`));
      });
      reply.on('error', reject);
    });
    call.on('error', reject);
    call.end();
  });
}

export function http1Agent() {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}
