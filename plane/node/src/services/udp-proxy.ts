import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Cancel, Clock } from '@castellan/world';
import type { BackendChoice } from './backend-choice.js';
import type { Backend } from './service-backends.js';

/** A client's port, and the socket from which its datagrams go on. */
interface Flow {
  readonly backend: Backend;
  readonly socket: Socket;
  usedAtMs: number;
}

/** As the kernel forgets a flow that was answered (nf_conntrack_udp_timeout_stream). */
const idleMs = 120_000;
/** Beyond it the flow goes that was used longest ago. */
const flowLimit = 1_024;

/**
 * Forwards datagrams to one port of a service address. What comes from one port of a client goes to one backend, and on to another as
 * soon as that one is no backend any more.
 */
export class UdpProxy {
  readonly #clock: Clock;
  readonly #choice: BackendChoice;
  readonly #socket: Socket;
  readonly #flows = new Map<string, Flow>();
  #cancelSweep: Cancel | undefined;

  private constructor(clock: Clock, choice: BackendChoice) {
    this.#clock = clock;
    this.#choice = choice;
    this.#socket = createSocket('udp4');
  }

  static async listen(
    at: { readonly address: string; readonly port: number; readonly clock: Clock },
    choice: BackendChoice,
  ): Promise<UdpProxy> {
    const proxy = new UdpProxy(at.clock, choice);
    const socket = proxy.#socket;
    await new Promise<void>((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close();
        reject(error);
      });
      socket.bind(at.port, at.address, resolve);
    });
    socket.removeAllListeners('error');
    // A client that is gone when its answer comes back makes an error here; nobody waits for it.
    socket.on('error', () => undefined);
    socket.on('message', (datagram, from) => proxy.#forward(datagram, from));
    return proxy;
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** There is nothing to be waited for: answers that are on their way are lost, as datagrams are. */
  async close(): Promise<void> {
    this.disconnect();
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  disconnect(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    for (const { socket } of this.#flows.values()) socket.close();
    this.#flows.clear();
  }

  #forward(datagram: Buffer, from: RemoteInfo): void {
    // Nobody could be answered there.
    if (from.port === 0) return;
    const client = `${from.address}:${from.port}`;
    const flow = this.#flowOf(client, from);
    if (flow === undefined) return;
    flow.usedAtMs = this.#clock.monotonicNow();
    this.#flows.delete(client);
    this.#flows.set(client, flow);
    flow.socket.send(datagram, flow.backend.port, flow.backend.address, () => undefined);
  }

  #flowOf(client: string, from: RemoteInfo): Flow | undefined {
    const known = this.#flows.get(client);
    if (known !== undefined && this.#choice.has(known.backend)) return known;
    this.#drop(client);
    const backend = this.#choice.order(from.address)[0];
    if (backend === undefined) return undefined;
    this.#choice.chosen(from.address, backend);
    const oldest = this.#flows.size < flowLimit ? undefined : this.#flows.keys().next().value;
    if (oldest !== undefined) this.#drop(oldest);
    const socket = createSocket('udp4');
    socket.on('error', () => undefined);
    socket.on('message', (answer, { address, port }) => {
      if (address !== backend.address || port !== backend.port) return;
      this.#socket.send(answer, from.port, from.address, () => undefined);
    });
    this.#cancelSweep ??= this.#clock.after(idleMs, () => this.#sweep());
    return { backend, socket, usedAtMs: 0 };
  }

  #drop(client: string): void {
    this.#flows.get(client)?.socket.close();
    this.#flows.delete(client);
  }

  #sweep(): void {
    const since = this.#clock.monotonicNow() - idleMs;
    for (const [client, { usedAtMs }] of this.#flows) if (usedAtMs <= since) this.#drop(client);
    this.#cancelSweep = this.#flows.size === 0 ? undefined : this.#clock.after(idleMs, () => this.#sweep());
  }
}
