import { type ChildProcess, spawn } from 'node:child_process';
import { connect, Socket } from 'node:net';
import { namespacePath } from './pod-network.js';

/**
 * Runs inside the network namespace: a socket belongs to the namespace where it was made, so one that is connected here
 * and handed over works outside as well. Answers every request with a socket or with why there is none.
 */
const helper = `
const { Socket } = require('node:net');
process.on('disconnect', () => process.exit());
process.on('message', ({ id, port }) => {
  const attempt = (hosts) => {
    const socket = new Socket();
    socket.pause();
    socket.once('error', ({ code }) => {
      if (hosts.length > 1) return attempt(hosts.slice(1));
      process.send({ id, problem: code === 'ECONNREFUSED' ? 'connection refused' : code });
    });
    socket.connect({ host: hosts[0], port }, () => process.send({ id }, socket));
  };
  attempt(['127.0.0.1', '::1']);
});
`;
const connectDeadlineMs = 10_000;
/** Without requests for so long the helper ends: it takes as much memory as any other process of Node. */
const idleMs = 10_000;

interface Answer {
  readonly id: number;
  readonly problem?: string;
}

/** Connects to an address that this machine reaches. Rejects in the words of Go, which clients are used to. */
export function connectTo(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, signal, timeout: connectDeadlineMs });
    const fail = (problem: string) => {
      socket.destroy();
      reject(new Error(`dial tcp ${host}:${port}: ${problem}`));
    };
    socket.once('connect', () => {
      socket.setTimeout(0);
      resolve(socket);
    });
    socket.once('timeout', () => fail('i/o timeout'));
    socket.once('error', ({ message }) =>
      fail(message.includes('ECONNREFUSED') ? 'connect: connection refused' : message),
    );
  });
}

/** Connects to programs that listen on the loopback of a network namespace: one process for each, while it is used. */
export class NamespaceConnectors {
  readonly #connectors = new Map<string, NamespaceConnector>();

  /** Rejects with what Go's clients are used to read: `dial tcp 127.0.0.1:80: connect: connection refused`. */
  async connect(namespace: string, port: number, signal: AbortSignal): Promise<Socket> {
    const known = this.#connectors.get(namespace);
    const connector = known ?? new NamespaceConnector(namespace, () => this.#connectors.delete(namespace));
    this.#connectors.set(namespace, connector);
    return await connector.connect(port, signal);
  }

  close(): void {
    for (const connector of this.#connectors.values()) connector.close();
  }
}

class NamespaceConnector {
  readonly #namespace: string;
  readonly #ended: () => void;
  readonly #waiting = new Map<number, (answer: Answer, socket: Socket | undefined) => void>();
  #process: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(namespace: string, ended: () => void) {
    this.#namespace = namespace;
    this.#ended = ended;
  }

  async connect(port: number, signal: AbortSignal): Promise<Socket> {
    const child = this.#started();
    this.#lastId += 1;
    const id = this.#lastId;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(connectDeadlineMs)]);
    try {
      return await new Promise<Socket>((resolve, reject) => {
        deadline.addEventListener('abort', () => reject(dialError(port, 'i/o timeout')), { once: true });
        this.#waiting.set(id, (answer, socket) => {
          if (socket === undefined) reject(dialError(port, answer.problem ?? 'no answer'));
          else if (deadline.aborted) socket.destroy();
          else resolve(socket);
        });
        child.send({ id, port });
      });
    } finally {
      if (!deadline.aborted) this.#waiting.delete(id);
      this.#endWhenIdle();
    }
  }

  close(): void {
    clearTimeout(this.#idle);
    const child = this.#process;
    this.#process = undefined;
    this.#ended();
    if (child?.connected === true) child.disconnect();
  }

  #started(): ChildProcess {
    clearTimeout(this.#idle);
    if (this.#process !== undefined) return this.#process;
    const args = [`--net=${namespacePath(this.#namespace)}`, '--', process.execPath, '-e', helper];
    const child = spawn('nsenter', args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.#process = child;
    child.unref();
    child.channel?.unref();
    child.on('message', (message, handle) => {
      const answer = parseAnswer(message);
      const settle = answer === undefined ? undefined : this.#waiting.get(answer.id);
      if (answer === undefined || settle === undefined) {
        if (handle instanceof Socket) handle.destroy();
        return;
      }
      this.#waiting.delete(answer.id);
      settle(answer, handle instanceof Socket ? handle : undefined);
    });
    const ended = () => {
      if (this.#process === child) this.#process = undefined;
      for (const [id, settle] of this.#waiting) settle({ id, problem: 'the pod has no network' }, undefined);
      this.#waiting.clear();
    };
    child.once('error', ended);
    child.once('exit', ended);
    return child;
  }

  #endWhenIdle(): void {
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), idleMs);
    this.#idle.unref();
  }
}

function parseAnswer(message: unknown): Answer | undefined {
  if (typeof message !== 'object' || message === null || !('id' in message) || typeof message.id !== 'number') {
    return undefined;
  }
  return { id: message.id, ...('problem' in message ? { problem: String(message.problem) } : {}) };
}

function dialError(port: number, problem: string): Error {
  return new Error(
    `failed to connect to localhost:${port} inside namespace: dial tcp 127.0.0.1:${port}: connect: ${problem}`,
  );
}
