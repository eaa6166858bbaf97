import { type Client, startDeadline } from '@castellan/client';
import {
  events,
  eventsV1,
  isStatusError,
  type KubernetesObject,
  type ResourceType,
  StatusError,
} from '@castellan/machinery';
import type { Cancel, World } from '@castellan/world';
import type { EventNote, EventRecorder, Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import { Fifo } from '../queue/fifo.js';
import { coreEventOf, type EventSeries, eventOf, repeatsOf, seriesKey, sourceKey } from './event-series.js';

export interface EventWriterOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
}

/** A series that was quiet for this long has ended: the next one is a new object. */
const seriesEndMs = 6 * 60_000;
/** A series that goes on is written this often; each repeat would be a request. */
const repeatMs = 10_000;
const mostSeries = 1_000;
/** As client-go's spam filter in shape: each object may have a burst of new series, and then one per refill. */
const burst = 25;
const refillMs = 10_000;
const mostTries = 3;
const retryMs = 2_000;

/**
 * Writes the events that controllers record, one at a time, in the background. Repeats that come while an earlier one is
 * being written are one write together. What is too much is dropped and counted, never waited for.
 */
export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #series = new Map<string, EventSeries>();
  readonly #queue = new Fifo<EventSeries>();
  readonly #allowances = new Map<string, { tokens: number; atMs: number }>();
  readonly #stop = new AbortController();
  /** Series whose repeats wait for their time. */
  readonly #later = new Map<EventSeries, Cancel>();
  #wake: (() => void) | undefined;
  #isClosing = false;
  #usesCore = false;
  #dropped = 0;
  #cancelLimit: Cancel | undefined;

  constructor(options: EventWriterOptions) {
    this.#options = options;
  }

  /** Events that were not written because there were too many of them, or because the server refused them. */
  get dropped(): number {
    return this.#dropped;
  }

  recorder(component: string): EventRecorder {
    return { record: (about, note) => this.#record(component, about, note) };
  }

  /** Writes until closed. */
  async run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const series = this.#queue.shift();
      if (series !== undefined) await this.#write(series);
      else if (this.#isClosing) break;
      else await this.#somethingQueued();
    }
    this.#cancelLimit?.();
  }

  /** Takes nothing more. `run` ends when what is queued is written, or after `limitMs`. */
  close(limitMs: number): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    for (const [series, cancel] of this.#later) {
      cancel();
      this.#enqueue(series);
    }
    this.#later.clear();
    this.#cancelLimit = this.#options.world.clock.after(limitMs, () =>
      this.#stop.abort(new Error('the manager stops')),
    );
    this.#wake?.();
  }

  #somethingQueued(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #record(component: string, about: KubernetesObject, note: EventNote): void {
    if (this.#isClosing) return;
    const nowMs = this.#options.world.clock.now();
    const key = seriesKey(component, about, note);
    let series = this.#series.get(key);
    if (series !== undefined && nowMs - series.lastMs <= seriesEndMs) {
      series.count += 1;
      series.lastMs = nowMs;
      this.#series.delete(key);
    } else {
      if (!this.#isAllowed(sourceKey(about), nowMs)) {
        this.#drop();
        return;
      }
      series = this.#begin(key, component, about, note);
    }
    this.#series.set(key, series);
    this.#bound(this.#series);
    this.#writeInTime(series);
  }

  #writeInTime(series: EventSeries): void {
    const { clock } = this.#options.world;
    const waitMs = series.nextWriteMs - clock.monotonicNow();
    if (waitMs <= 0) this.#enqueue(series);
    else if (!this.#later.has(series)) {
      const write = (): void => {
        this.#later.delete(series);
        this.#enqueue(series);
      };
      this.#later.set(series, clock.after(waitMs, write));
    }
  }

  #begin(key: string, component: string, about: KubernetesObject, note: EventNote): EventSeries {
    const { clock, random } = this.#options.world;
    const nowMs = clock.now();
    // Named as client-go names them: the object's name and the time in nanoseconds. Not all names may be an event's.
    const prefix = (about.metadata.name ?? '').slice(0, 200).replace(/[^a-z0-9.-]/g, '-');
    const name = `${prefix}.${nanoseconds(nowMs, random).toString(16)}`;
    const namespace = about.metadata.namespace ?? 'default';
    const times = { firstMs: nowMs, lastMs: nowMs, count: 1 };
    return {
      key,
      name,
      namespace,
      about,
      note,
      component,
      ...times,
      isWritten: false,
      isQueued: false,
      nextWriteMs: 0,
    };
  }

  #isAllowed(source: string, nowMs: number): boolean {
    const allowance = this.#allowances.get(source) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, allowance.tokens + (nowMs - allowance.atMs) / refillMs);
    this.#allowances.delete(source);
    this.#allowances.set(source, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs });
    this.#bound(this.#allowances);
    return tokens >= 1;
  }

  #enqueue(series: EventSeries): void {
    if (series.isQueued) return;
    if (this.#queue.length >= mostSeries) {
      this.#drop();
      return;
    }
    series.isQueued = true;
    this.#queue.push(series);
    this.#wake?.();
  }

  async #write(series: EventSeries): Promise<void> {
    const { client, world, log } = this.#options;
    for (let tries = 1; ; tries += 1) {
      // What is recorded from here on is not in this write.
      series.isQueued = false;
      const deadline = startDeadline(world.clock, 10_000, 'an event to be written', this.#stop.signal);
      try {
        await this.#send(client, series, deadline.signal);
        return;
      } catch (error) {
        const isFinal = error instanceof StatusError && error.code < 500 && error.code !== 429;
        if (isFinal || tries >= mostTries || this.#stop.signal.aborted) {
          this.#drop();
          log.debug(`an event was not written: ${errorMessage(error)}`, {
            reason: series.note.reason,
          });
          return;
        }
        await world.clock.sleep(retryMs * tries, this.#stop.signal).catch(() => undefined);
      } finally {
        deadline.dispose();
      }
    }
  }

  async #send(client: Client, series: EventSeries, signal: AbortSignal): Promise<void> {
    const { namespace, name } = series;
    if (series.isWritten) {
      try {
        const type: ResourceType = this.#usesCore ? events : eventsV1;
        const patch = { type: 'merge', body: repeatsOf(series) } as const;
        series.nextWriteMs = this.#options.world.clock.monotonicNow() + repeatMs;
        await client.patch(type, { namespace, name }, patch, { signal });
        return;
      } catch (error) {
        // Events live for an hour or so; one that is gone begins again under its own name.
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    }
    await this.#create(client, series, signal);
    series.isWritten = true;
  }

  /** Roles that were written for core/v1 do not allow the newer group, which gives the same events. */
  async #create(client: Client, series: EventSeries, signal: AbortSignal): Promise<void> {
    if (!this.#usesCore) {
      try {
        await client.create(eventsV1, eventOf(series), { signal });
        return;
      } catch (error) {
        if (!isStatusError(error, 'Forbidden', 'NotFound')) throw error;
      }
    }
    await client.create(events, coreEventOf(series), { signal });
    this.#usesCore = true;
  }

  #drop(): void {
    this.#dropped += 1;
    if (this.#dropped === 1) {
      this.#options.log.warn(
        'an event was dropped: too many at once, or refused by the server; further ones are only counted',
      );
    }
  }

  #bound(map: Map<string, unknown>): void {
    if (map.size <= mostSeries) return;
    const oldest = map.keys().next();
    if (oldest.done !== true) map.delete(oldest.value);
  }
}

/** Of a clock that knows milliseconds: chance gives the rest, so that two events of one millisecond have two names. */
function nanoseconds(ms: number, random: World['random']): bigint {
  return BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.floor(random.next() * 1_000_000));
}
