import type { World } from '@castellan/world';
import { EtcdUnreachableError, KeyspaceClosedError, UncertainWriteError } from '../errors.js';
import type { Procedure } from './calls.js';
import { Endpoint, isServiceError } from './endpoint.js';
import type { EtcdTls } from './etcd-options.js';
import { type Answer, translateFailure } from './translate-error.js';

export interface CallOptions {
  /** May it be made twice? Then it is tried again, on each endpoint in turn, until the deadline. */
  readonly isRepeatable: boolean;
  /** Of the call with all its repetitions; 10 s unless told. */
  readonly deadlineMs?: number;
}

/** etcd has decided not to do it, for a reason that the caller knows. */
export class RefusedAnswer extends Error {
  constructor(
    readonly answer: Exclude<Answer, 'other'>,
    options: { readonly cause: Error },
  ) {
    super(options.cause.message, options);
  }
}

const callDeadlineMs = 10_000;
/** One try: long enough for an election, short enough that another endpoint gets its turn. */
const tryDeadlineMs = 4_000;
const retryMs = 50;
const whyDeadlineMs = 200;

/** The members of an etcd cluster. Calls go to one of them until it fails; then to the next that is connected. */
export class Cluster {
  readonly world: World;
  readonly #endpoints: readonly Endpoint[];
  #preferred = 0;
  #isClosed = false;

  constructor(addresses: readonly string[], tls: EtcdTls | undefined, world: World) {
    if (addresses.length === 0) throw new RangeError('an etcd cluster without an endpoint');
    this.world = world;
    this.#endpoints = addresses.map((address) => new Endpoint(address, tls));
  }

  /** HOST:PORT of each. */
  get addresses(): readonly string[] {
    return this.#endpoints.map(({ address }) => address);
  }

  /**
   * Fails with `RefusedAnswer` for the answers that callers tell apart, `EtcdRefusedError` for all others,
   * `EtcdUnreachableError` when the call was certainly not made, and `UncertainWriteError` when one that is not
   * repeatable may have been.
   */
  async call<Request, Response>(
    procedure: Procedure<Request, Response>,
    request: Partial<Request>,
    { isRepeatable, deadlineMs = callDeadlineMs }: CallOptions,
  ): Promise<Response> {
    const { clock } = this.world;
    const endMs = clock.monotonicNow() + deadlineMs;
    for (;;) {
      const endpoint = await this.connected(endMs - clock.monotonicNow());
      const tryMs = Math.min(tryDeadlineMs, Math.max(1, endMs - clock.monotonicNow()));
      try {
        return await endpoint.call(procedure, request, this.#in(tryMs));
      } catch (error) {
        if (!isServiceError(error)) throw error;
        if (this.#isClosed) throw new KeyspaceClosedError();
        const failure = translateFailure(endpoint.address, error);
        if (failure.type === 'refused') {
          if (failure.answer === 'other') throw failure.error;
          throw new RefusedAnswer(failure.answer, { cause: failure.error });
        }
        const { reason } = failure;
        this.avoid(endpoint);
        if (!isRepeatable && !failure.isUndone)
          throw new UncertainWriteError(endpoint.address, reason, { cause: error });
        if (clock.monotonicNow() + retryMs >= endMs) throw this.#unreachable(reason, error);
        await clock.sleep(retryMs);
      }
    }
  }

  /** An endpoint with a connection: the preferred one, else the first that has one. */
  async connected(deadlineMs = callDeadlineMs): Promise<Endpoint> {
    if (this.#isClosed) throw new KeyspaceClosedError();
    const inOrder = [...this.#endpoints.slice(this.#preferred), ...this.#endpoints.slice(0, this.#preferred)];
    const ready = inOrder.find((endpoint) => endpoint.isConnected);
    if (ready !== undefined) return ready;
    const deadline = this.#in(Math.max(1, deadlineMs));
    try {
      return await Promise.any(inOrder.map((endpoint) => endpoint.connected(deadline).then(() => endpoint)));
    } catch (error) {
      if (this.#isClosed) throw new KeyspaceClosedError();
      throw this.#unreachable(await this.#whyNotConnected(), error);
    }
  }

  /** It has failed: others come before it from now on. */
  avoid(endpoint: Endpoint): void {
    if (this.#endpoints[this.#preferred] === endpoint) {
      this.#preferred = (this.#preferred + 1) % this.#endpoints.length;
    }
  }

  /** The time `ms` from now, as gRPC takes deadlines. */
  #in(ms: number): Date {
    return new Date(this.world.clock.now() + ms);
  }

  close(): void {
    this.#isClosed = true;
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  async #whyNotConnected(): Promise<string> {
    const deadline = this.#in(whyDeadlineMs);
    const reasons = await Promise.all(this.#endpoints.map((endpoint) => endpoint.whyNotConnected(deadline)));
    return [...new Set(reasons)].join('; ');
  }

  #unreachable(reason: string, cause: unknown): EtcdUnreachableError {
    return new EtcdUnreachableError(this.addresses, reason, { cause });
  }
}
