import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { type KeyEvent, type Keyspace, memoryKeyspace, prefixRange, type Watch } from '@castellan/keyspace';
import { type Random, realWorld, simulatedWorld, waitFor } from '@castellan/world';
import { type ApiRequest, type ApiServer, createApiServer, type ResponseWriter } from '../src/index.js';

export interface CutsReport {
  readonly writes: number;
  /** That all watchers got together, and that were compared with what the keyspace says has happened. */
  readonly events: number;
  /** How often the API server's own watch was cut, and how often watchers were too late for history and listed anew. */
  readonly cuts: number;
  readonly relists: number;
}

const world = realWorld();
const collection = '/api/v1/namespaces/default/configmaps';
const stored = prefixRange('/registry/configmaps/default/');

/**
 * Watchers on one API server while objects change, its watches of the keyspace are cut, history is compacted, and watchers
 * end, fall behind and come back, all at random. Throws when a watcher gets a change twice, late, wrong or not at all,
 * or when a list is older than what its reader has seen.
 */
export async function watchersUnderCuts(options: {
  readonly watchers: number;
  readonly forMs: number;
  readonly seed: number;
}): Promise<CutsReport> {
  const { random } = simulatedWorld(options.seed);
  const keyspace = memoryKeyspace(world);
  const cuttable = new CuttableKeyspace(keyspace);
  const history: KeyEvent[] = [];
  // Straight from the keyspace: what has happened.
  await keyspace.watch(stored, 1, { onEvents: (events) => history.push(...events), onEnd: () => undefined });
  const server = await createApiServer({ keyspace: cuttable.keyspace, world });
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal);
  const watchers = Array.from({ length: options.watchers }, () => new Watcher(server, random, history));
  const running = watchers.map((watcher) => watcher.run(signal));
  const failed = Promise.all(running).then(() => undefined);
  const disturbing = disturb(cuttable, random, signal);
  let writes = 0;
  try {
    const endMs = world.clock.monotonicNow() + options.forMs;
    while (world.clock.monotonicNow() < endMs) {
      await Promise.race([write(server, random), failed]);
      writes += 1;
      if (random.next() < 0.3) await world.clock.sleep(random.next() * 5);
    }
    const last = await keyspace.revision();
    for (const watcher of watchers) watcher.isHurried = true;
    await Promise.race([
      failed,
      waitFor(world, () => watchers.every((watcher) => watcher.reached(last)), {
        what: `every watcher to hear of revision ${last}`,
        deadlineMs: 20_000,
      }),
    ]);
  } finally {
    stopping.abort();
    await disturbing;
    await server.close();
    await keyspace.close();
  }
  await failed;
  const sum = (of: (watcher: Watcher) => number) => watchers.reduce((total, watcher) => total + of(watcher), 0);
  return { writes, cuts: cuttable.cuts, events: sum(({ events }) => events), relists: sum(({ relists }) => relists) };
}

async function write(server: ApiServer, random: Random): Promise<void> {
  const name = `object-${Math.floor(random.next() * 20)}`;
  const kind = random.next();
  if (kind < 0.2) await call(server, 'DELETE', `${collection}/${name}`);
  else if (kind < 0.6) await call(server, 'POST', collection, { metadata: { name }, data: { at: `${random.next()}` } });
  else await call(server, 'PUT', `${collection}/${name}`, { metadata: { name }, data: { at: `${random.next()}` } });
}

async function disturb(cuttable: CuttableKeyspace, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await world.clock.sleep(20 + random.next() * 200, signal).catch(() => undefined);
    if (signal.aborted) return;
    if (random.next() < 0.7) cuttable.cut();
    else
      await cuttable.keyspace.compact(
        Math.max(1, (await cuttable.keyspace.revision()) - Math.floor(random.next() * 50)),
      );
  }
}

/** One client: lists, watches, leaves and comes back where it was. */
class Watcher {
  events = 0;
  relists = 0;
  isHurried = false;
  readonly #server: ApiServer;
  readonly #random: Random;
  readonly #history: readonly KeyEvent[];
  /** All changes up to here were seen. */
  #revision = 0;
  /** Where in the history the next change that it may see is. */
  #next = 0;

  constructor(server: ApiServer, random: Random, history: readonly KeyEvent[]) {
    this.#server = server;
    this.#random = random;
    this.#history = history;
  }

  /** Nothing of what has happened up to `revision` is missing. */
  reached(revision: number): boolean {
    const next = this.#history[this.#next];
    return next === undefined || next.revision > revision;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#list();
    while (!signal.aborted) await this.#watch(signal);
  }

  async #list(): Promise<void> {
    const query = this.#random.next() < 0.5 ? '' : `?resourceVersion=${this.#revision}`;
    const { status, text } = await call(this.#server, 'GET', `${collection}${query}`);
    assert.equal(status, 200, text);
    const { metadata } = JSON.parse(text) as { metadata: { resourceVersion: string } };
    const revision = Number(metadata.resourceVersion);
    assert.ok(revision >= this.#revision, `a list of ${revision} after ${this.#revision} was seen`);
    this.#revision = revision;
    const next = this.#history.findIndex((event) => event.revision > revision);
    this.#next = next < 0 ? this.#history.length : next;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const leaveAfter = this.isHurried ? Number.POSITIVE_INFINITY : 1 + Math.floor(this.#random.next() * 60);
    const ending = new AbortController();
    setMaxListeners(0, ending.signal);
    const leave = (): void => ending.abort();
    signal.addEventListener('abort', leave, { once: true });
    let seen = 0;
    let isTooLate = false;
    const bookmarks = this.#random.next() < 0.5 ? '&allowWatchBookmarks=true' : '';
    const path = `${collection}?watch=true&resourceVersion=${this.#revision}${bookmarks}`;
    let failure: unknown;
    await stream(this.#server, path, ending.signal, {
      isSlow: () => !this.isHurried && this.#random.next() < 0.02,
      onLine: (line) => {
        if (ending.signal.aborted) return;
        try {
          isTooLate ||= this.#take(line);
        } catch (error) {
          failure = error;
          leave();
        }
        seen += 1;
        if (seen >= leaveAfter) leave();
      },
    });
    signal.removeEventListener('abort', leave);
    if (failure !== undefined) throw failure;
    if (!isTooLate || signal.aborted) return;
    this.relists += 1;
    await this.#list();
  }

  /** True: it was told that it is too late. */
  #take(line: string): boolean {
    const { type, object } = JSON.parse(line) as WatchLine;
    if (type === 'ERROR') {
      assert.equal(object.code, 410, line);
      return true;
    }
    const revision = Number(object.metadata?.resourceVersion);
    assert.ok(revision >= this.#revision, `${type} of ${revision} after ${this.#revision}`);
    this.#revision = revision;
    if (type === 'BOOKMARK') {
      const missed = this.#history[this.#next];
      assert.ok(missed === undefined || missed.revision > revision, `bookmark ${revision} hides ${missed?.revision}`);
      return false;
    }
    const expected = this.#history[this.#next];
    this.#next += 1;
    this.events += 1;
    const { name } = object.metadata ?? {};
    assert.deepEqual([revision, type, `${stored.start}${name}`], [expected?.revision, typeOf(expected), expected?.key]);
    return false;
  }
}

interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  };
}

function typeOf(event: KeyEvent | undefined): string {
  if (event?.keyValue === undefined) return 'DELETED';
  return event.keyValue.version === 1 ? 'ADDED' : 'MODIFIED';
}

/** A keyspace whose watches can be ended, as those over a network are. */
class CuttableKeyspace {
  readonly keyspace: Keyspace;
  cuts = 0;
  readonly #open = new Set<() => void>();

  constructor(keyspace: Keyspace) {
    this.keyspace = new Proxy(keyspace, {
      get: (target, name) => {
        if (name === 'watch') return (...args: Parameters<Keyspace['watch']>) => this.#watch(target, ...args);
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  cut(): void {
    this.cuts += 1;
    for (const end of [...this.#open]) end();
  }

  async #watch(target: Keyspace, ...[range, after, watcher]: Parameters<Keyspace['watch']>): Promise<Watch> {
    const watch = await target.watch(range, after, watcher);
    const end = (): void => {
      this.#open.delete(end);
      watch.cancel();
      watcher.onEnd(new Error('the watch was cut'));
    };
    this.#open.add(end);
    return {
      cancel: () => {
        this.#open.delete(end);
        watch.cancel();
      },
    };
  }
}

async function call(server: ApiServer, method: string, path: string, body?: unknown) {
  let status = 0;
  let text = '';
  await new Promise<void>((resolve) => {
    const writer: ResponseWriter = {
      isEnded: false,
      head: (code) => {
        status = code;
      },
      write: (chunk) => {
        text += Buffer.from(chunk).toString();
        return true;
      },
      end: (chunk = '') => {
        text += Buffer.from(chunk).toString();
        resolve();
      },
      onDrain: (callback) => callback(),
    };
    void server.handle(
      requestOf(method, path, () => undefined, body),
      writer,
    );
  });
  return { status, text };
}

/** A watch until the server ends it or the signal aborts. A slow client takes nothing for a while. */
async function stream(
  server: ApiServer,
  path: string,
  signal: AbortSignal,
  client: { isSlow(): boolean; onLine(line: string): void },
): Promise<void> {
  await new Promise<void>((resolve) => {
    const onDrain: (() => void)[] = [];
    const state = { isEnded: false };
    const take = (chunk: Uint8Array | string): void => {
      for (const line of Buffer.from(chunk).toString().split('\n')) if (line !== '') client.onLine(line);
    };
    const finish = (): void => {
      state.isEnded = true;
      for (const callback of onDrain.splice(0)) callback();
      resolve();
    };
    const writer: ResponseWriter = {
      get isEnded() {
        return state.isEnded;
      },
      head: () => undefined,
      write: (chunk) => {
        take(chunk);
        if (!client.isSlow()) return true;
        world.clock.after(50, () => {
          for (const callback of onDrain.splice(0)) callback();
        });
        return false;
      },
      end: (chunk = '') => {
        take(chunk);
        finish();
      },
      onDrain: (callback) => onDrain.push(callback),
    };
    const onClose = (callback: () => void): void => {
      signal.addEventListener('abort', () => callback(), { once: true });
    };
    signal.addEventListener('abort', finish, { once: true });
    void server.handle(requestOf('GET', path, onClose), writer);
  });
}

function requestOf(method: string, target: string, onClose: ApiRequest['onClose'], body?: unknown): ApiRequest {
  const [path = '', query] = target.split('?');
  return {
    method,
    path,
    query: new URLSearchParams(query),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    certificateUser: { name: 'test', groups: ['system:masters'] },
    body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    onClose,
  };
}
