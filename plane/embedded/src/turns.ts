import type { Client } from '@castellan/client';
import { leases } from '@castellan/machinery';
import { LeaderElector, LeadershipLostError, type Log } from '@castellan/runtime';
import { type World, waitFor } from '@castellan/world';

/** Work that one process at a time does, of all that run over the same API. Begun anew each time its turn comes. */
export interface Duty {
  /** Of the Lease in kube-system that says whose turn it is. */
  readonly lease: string;
  begin(): Term;
}

export interface Term {
  ready(): Promise<void>;
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface TurnsOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  /** Unique to this process. */
  readonly identity: string;
}

const namespace = 'kube-system';
const settleDeadlineMs = 60_000;

/** Does a duty while this process holds its lease, and stands by while another one does. */
export class Turns {
  readonly #duty: Duty;
  readonly #options: TurnsOptions;
  #isWorking = false;

  constructor(duty: Duty, options: TurnsOptions) {
    this.#duty = duty;
    this.#options = options;
  }

  /** Until the signal aborts; then the lease is given up. Rejects when the work itself fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    while (!signal.aborted) {
      const elector = new LeaderElector({ ...this.#options, namespace, name: this.#duty.lease });
      try {
        await elector.run((leading) => this.#work(leading), signal);
      } catch (error) {
        if (!signal.aborted && !(error instanceof LeadershipLostError)) throw error;
        if (!signal.aborted) log.warn(`standing by: ${String(error)}`);
      } finally {
        this.#isWorking = false;
        await elector.release();
      }
    }
  }

  /** Resolves when the work is done: here, or by another process. */
  async settled(): Promise<void> {
    const { world, client, identity } = this.#options;
    const name = this.#duty.lease;
    const isSettled = async () => {
      if (this.#isWorking) return true;
      const lease = await client.find(leases, { namespace, name });
      const { holderIdentity = '' } = lease?.spec ?? {};
      return holderIdentity !== '' && holderIdentity !== identity;
    };
    const what = `somebody to hold the lease ${name}`;
    await waitFor(world, isSettled, { what, deadlineMs: settleDeadlineMs, everyMs: 50 });
  }

  async #work(leading: AbortSignal): Promise<void> {
    const term = this.#duty.begin();
    const running = term.run(leading);
    term.ready().then(
      () => {
        this.#isWorking = !leading.aborted;
      },
      () => undefined,
    );
    await running;
  }
}
