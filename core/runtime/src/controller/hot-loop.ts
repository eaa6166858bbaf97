import type { KubernetesObject } from '@castellan/machinery';
import type { Clock } from '@castellan/world';
import { type ChangedField, changedFields } from './changed-fields.js';

/** A change that asked for a key, as far as it matters here. */
export interface SeenChange {
  /** `Pod default/a`. */
  readonly object: string;
  /** Absent where it was added. */
  readonly before?: KubernetesObject;
  /** Absent where it was deleted. */
  readonly after?: KubernetesObject;
}

/** So often may one value be written to one field of one object within the window. */
const mostSameValues = 5;
/** So often may one object be written within the window. */
const mostWrites = 20;
const windowMs = 60_000;
const firstPenaltyMs = 1_000;
const longestPenaltyMs = 60_000;
const mostKeys = 1_000;
const mostRevisions = 4_000;
const mostTriggers = 200;

/**
 * Notices when a key is written again and again though nothing else has changed: a field that goes back and forth between
 * two values (because of the reconcile itself, or because somebody sets it back each time), or one that is new each time.
 * Such a key is slowed down, 1 s at first and up to a minute, until it has come to rest for a minute.
 *
 * What others changed, other than setting back what was written here, breaks the series: then there was something to react to.
 */
export class HotLoopDetector {
  readonly #clock: Clock;
  readonly #keys = new Map<string, KeyWrites>();
  /** Revisions that came of our own writes. A watch may bring one before the reply does: they are compared later. */
  readonly #ownRevisions = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something asks for `key` because of a change. */
  noteTrigger(key: string, change: SeenChange): void {
    const writes = this.#writesOf(key);
    // Without writes there is no series to break.
    if (writes !== undefined && writes.triggers.length < mostTriggers) writes.triggers.push(change);
  }

  /**
   * A reconcile of `key` wrote an object. Gives a sentence when that is the one too many, once until the key rests.
   *
   * @param object `Pod default/a`.
   * @param before as it was known before the write; `undefined` where it was not there.
   */
  noteWrite(
    key: string,
    object: string,
    before: KubernetesObject | undefined,
    after: KubernetesObject,
  ): string | undefined {
    const revision = after.metadata.resourceVersion ?? '';
    if (before?.metadata.resourceVersion === revision) return undefined;
    remember(this.#ownRevisions, revision, mostRevisions);
    const writes = this.#writesOf(key) ?? new KeyWrites();
    this.#keys.delete(key);
    this.#keys.set(key, writes);
    if (this.#keys.size > mostKeys) dropOldest(this.#keys);
    if (writes.triggers.some((change) => !this.#isOwn(change) && writes.isNews(change))) writes.restart();
    writes.triggers.length = 0;
    const nowMs = this.#clock.monotonicNow();
    writes.lastMs = nowMs;
    const found = writes.add(object, nowMs, before === undefined ? [created] : changedFields(before, after));
    if (writes.penaltyMs > 0) {
      writes.penaltyMs = Math.min(longestPenaltyMs, writes.penaltyMs * 2);
      return undefined;
    }
    if (found !== undefined) writes.penaltyMs = firstPenaltyMs;
    return found;
  }

  /** How long `key` is to wait before it is reconciled again, in ms. */
  penaltyMs(key: string): number {
    return this.#writesOf(key)?.penaltyMs ?? 0;
  }

  #isOwn({ after }: SeenChange): boolean {
    return after !== undefined && this.#ownRevisions.has(after.metadata.resourceVersion ?? '');
  }

  #writesOf(key: string): KeyWrites | undefined {
    const writes = this.#keys.get(key);
    if (writes === undefined || this.#clock.monotonicNow() - writes.lastMs <= windowMs + writes.penaltyMs)
      return writes;
    this.#keys.delete(key);
    return undefined;
  }
}

const created: ChangedField = { path: 'the object itself', value: 'made anew' };

interface FieldWrite {
  readonly atMs: number;
  readonly value: string;
}

/** What was written for one key in the last minute. */
class KeyWrites {
  readonly triggers: SeenChange[] = [];
  /** By object: when it was written, and what to which field. */
  readonly objects = new Map<string, { readonly atMs: number[]; readonly fields: Map<string, FieldWrite[]> }>();
  lastMs = 0;
  penaltyMs = 0;

  /** Whether a change by others is more than our own writes set back. */
  isNews({ object, before, after }: SeenChange): boolean {
    const written = this.objects.get(object);
    if (written === undefined) return true;
    if (after === undefined) return !written.fields.has(created.path);
    if (before === undefined) return true;
    return changedFields(before, after).some(({ path }) => !written.fields.has(path));
  }

  restart(): void {
    this.objects.clear();
    this.penaltyMs = 0;
  }

  add(object: string, nowMs: number, changes: readonly ChangedField[]): string | undefined {
    const written = this.objects.get(object) ?? { atMs: [], fields: new Map<string, FieldWrite[]>() };
    this.objects.set(object, written);
    written.atMs.push(nowMs);
    dropBefore(written.atMs, nowMs - windowMs, (atMs) => atMs);
    let flip: string | undefined;
    for (const { path, value } of changes) {
      const values = written.fields.get(path) ?? [];
      written.fields.set(path, values);
      values.push({ atMs: nowMs, value });
      dropBefore(values, nowMs - windowMs, ({ atMs }) => atMs);
      flip ??= flipOf(path, values, value);
    }
    if (flip !== undefined) return `${object} is written again and again: ${flip}`;
    if (written.atMs.length < mostWrites) return undefined;
    const often = [...written.fields].filter(([, values]) => values.length * 2 > written.atMs.length);
    const names = often.slice(0, 5).map(([path, values]) => `${path} (now ${values.at(-1)?.value})`);
    const what = names.length === 0 ? 'ever other fields' : names.join(', ');
    return `${object} was written ${written.atMs.length} times within a minute while nothing else changed: each time ${what}`;
  }
}

function flipOf(path: string, values: readonly FieldWrite[], value: string): string | undefined {
  const times = values.filter((each) => each.value === value).length;
  if (times < mostSameValues) return undefined;
  const other = values.findLast((each) => each.value !== value)?.value;
  return other === undefined
    ? `${path} was set to ${value} ${times} times within a minute, and set back by another writer each time`
    : `${path} goes back and forth between ${value} and ${other}`;
}

function dropBefore<T>(list: T[], firstMs: number, atMs: (item: T) => number): void {
  let stale = 0;
  for (const item of list) {
    if (atMs(item) >= firstMs) break;
    stale += 1;
  }
  list.splice(0, stale);
}

function remember(set: Set<string>, item: string, most: number): void {
  set.add(item);
  if (set.size <= most) return;
  const oldest = set.values().next();
  if (oldest.done !== true) set.delete(oldest.value);
}

function dropOldest(map: Map<string, unknown>): void {
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
