import { apiVersionOf, exactJson, type Status, StatusError } from '@castellan/machinery';
import type { Cancel, World } from '@castellan/world';
import type { CacheEntry, CacheEvent } from '../cache/cache-event.js';
import type { ApiObject } from '../json.js';
import { tableOf } from '../printers/table.js';
import { parseRevision } from '../registry/read.js';
import { present, type Resource } from '../registry/resource.js';
import type { ApiRequest, ResponseWriter } from '../server/http.js';
import { withRevision } from '../storage/codec.js';
import { collectionPrefix } from '../storage/keys.js';
import { assertWatchOptions } from './list-options.js';
import { renderObject } from './render.js';
import type { RenderOptions } from './render-options.js';
import { type Reply, statusOf } from './reply.js';
import type { Selection } from './selection.js';
import { SharedEvents } from './shared-events.js';

const minTimeoutSeconds = 1800;
const bookmarkIntervalMs = 60_000;
/** The last bookmark comes so long before a watch ends by its time limit. */
const lastBookmarkMs = 2000;
/** So many events are made ready by one call of a conversion webhook. */
const eventsAtOnce = 100;
/** A client that takes nothing for so long is gone or stuck. */
const stalledMs = 60_000;

const initialEvents = new SharedEvents();

export interface WatchOptions {
  readonly namespace: string | undefined;
  readonly selection: Selection;
  readonly render: RenderOptions;
  readonly world: World;
}

/** Serves one watch until the client leaves, its time is up, or it falls too far behind. */
export async function serveWatch(
  resource: Resource,
  request: ApiRequest,
  reply: Reply,
  options: WatchOptions,
): Promise<void> {
  const { query } = request;
  assertWatchOptions(query);
  const { cache } = resource.store;
  const revisionText = query.get('resourceVersion') ?? '';
  const revision = parseRevision(revisionText);
  const sendsInitial = query.get('sendInitialEvents') === 'true';
  if (revision > 0) await cache.reach(revision);
  else if (revisionText === '') await cache.fresh();
  else await cache.reach(0);

  const isFromNow = query.get('sendInitialEvents') === 'false' && revision === 0;
  const wantsState = sendsInitial || (revision === 0 && !isFromNow);
  const isTooOld = !wantsState && revision > 0 && !(await cache.reachBack(revision));
  const stream = new WatchStream(resource, reply.stream(watchMediaType(options)), options);
  if (isTooOld) {
    stream.fail(tooOld(revision, cache.window.start));
    return;
  }
  stream.begin({
    query,
    entries: wantsState ? cache.list(collectionPrefix(resource.store.layout, options.namespace)) : [],
    sequence: wantsState || isFromNow ? cache.window.end : cache.window.firstAfter(revision),
    endsInitialWithBookmark: sendsInitial && query.get('allowWatchBookmarks') === 'true',
  });
  request.onClose(() => stream.close());
}

function watchMediaType({ render }: WatchOptions): string {
  return render.representation.format === 'yaml' ? 'application/yaml;stream=watch' : 'application/json';
}

function tooOld(revision: number, oldest: number): Status {
  return StatusError.of('Expired', `too old resource version: ${revision} (${oldest})`).status;
}

class WatchStream {
  private readonly resource: Resource;
  private readonly writer: ResponseWriter;
  private readonly options: WatchOptions;
  private readonly prefix: string;
  private readonly representationKey: string;
  private entries: readonly CacheEntry[] = [];
  private nextEntry = 0;
  private sequence = 0;
  private isWaitingForDrain = false;
  private isWaitingForViews = false;
  private isClosed = false;
  private hasSentColumns = false;
  private endsInitialWithBookmark = false;
  private unlisten: () => void = () => {};
  private timers: Cancel[] = [];
  private cancelStall: Cancel | undefined;

  constructor(resource: Resource, writer: ResponseWriter, options: WatchOptions) {
    this.resource = resource;
    this.writer = writer;
    this.options = options;
    this.prefix = collectionPrefix(resource.store.layout, options.namespace);
    const { representation, includeObject } = options.render;
    const { group, version } = resource.definition;
    this.representationKey = [group, version, representation.shape, representation.shapeVersion, includeObject].join(
      ' ',
    );
  }

  begin(start: {
    readonly query: URLSearchParams;
    readonly entries: readonly CacheEntry[];
    readonly sequence: number;
    readonly endsInitialWithBookmark: boolean;
  }): void {
    this.entries = start.entries;
    this.sequence = start.sequence;
    this.endsInitialWithBookmark = start.endsInitialWithBookmark;
    const { world } = this.options;
    const asked = Number(start.query.get('timeoutSeconds') ?? 0);
    const timeoutMs = 1000 * (asked > 0 ? asked : minTimeoutSeconds * (1 + world.random.next()));
    this.timers.push(world.clock.after(timeoutMs, () => this.close()));
    if (start.query.get('allowWatchBookmarks') === 'true') this.scheduleBookmarks(timeoutMs);
    this.unlisten = this.resource.store.cache.listen({ onAdvance: () => this.pump(), onEnd: () => this.close() });
    this.pump();
  }

  fail(status: Status): void {
    this.writer.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    this.isClosed = true;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.unlisten();
    this.cancelStall?.();
    for (const cancel of this.timers) cancel();
    if (!this.writer.isEnded) this.writer.end();
  }

  /** Writes what there is to write, as long as the client takes it. */
  private pump(): void {
    // Of thousands of watches whose client has left meanwhile, none is worth an event.
    if (this.writer.isEnded) this.close();
    if (this.isClosed || this.isWaitingForDrain || this.isWaitingForViews) return;
    if (!this.pumpInitial()) return;
    const { window } = this.resource.store.cache;
    while (this.sequence < window.end) {
      if (window.isDropped(this.sequence)) {
        this.close();
        return;
      }
      if (this.waitsFor(this.nextObjects())) return;
      const event = window.at(this.sequence);
      this.sequence += 1;
      const bytes = event === undefined ? undefined : this.encode(event);
      if (bytes !== undefined && !this.write(bytes)) return;
    }
  }

  /** Where views come from a conversion webhook: true while it is asked for those of these objects. */
  private waitsFor(objects: readonly ApiObject[]): boolean {
    const ready = this.resource.definition.makeReady?.(objects);
    if (ready === undefined) return false;
    this.isWaitingForViews = true;
    ready.then(
      () => {
        this.isWaitingForViews = false;
        this.pump();
      },
      (error: unknown) => {
        if (!this.isClosed) this.writer.write(encodeEvent('ERROR', statusOf(error)));
        this.close();
      },
    );
    return true;
  }

  /** What the next events are about, where that must be made ready; many at once, as each call takes its time. */
  private nextObjects(): readonly ApiObject[] {
    if (this.resource.definition.makeReady === undefined) return [];
    const { window } = this.resource.store.cache;
    const sequences = Array.from({ length: eventsAtOnce }, (_, index) => this.sequence + index);
    return sequences
      .flatMap((sequence) => window.at(sequence) ?? [])
      .filter(({ key }) => key.startsWith(this.prefix))
      .flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
  }

  /** False: the client does not keep up, or a view is waited for. */
  private pumpInitial(): boolean {
    const { definition } = this.resource;
    const { selection } = this.options;
    const isConverted = definition.makeReady !== undefined && this.nextEntry === 0;
    if (isConverted && this.waitsFor(this.entries.map(({ object }) => object))) return false;
    while (this.nextEntry < this.entries.length) {
      const entry = this.entries[this.nextEntry];
      this.nextEntry += 1;
      if (entry === undefined) continue;
      const object = present(definition, entry.object);
      if (selection.matches(object) && !this.write(this.initialBytes(entry.object, object))) return false;
    }
    this.entries = [];
    this.nextEntry = 0;
    if (this.endsInitialWithBookmark) {
      this.endsInitialWithBookmark = false;
      if (!this.write(this.bookmark({ 'k8s.io/initial-events-end': 'true' }))) return false;
    }
    return true;
  }

  private write(bytes: Uint8Array): boolean {
    if (this.writer.write(bytes)) return true;
    this.isWaitingForDrain = true;
    this.cancelStall = this.options.world.clock.after(stalledMs, () => this.close());
    this.writer.onDrain(() => {
      this.cancelStall?.();
      this.isWaitingForDrain = false;
      this.pump();
    });
    return false;
  }

  /** The event as this watcher sees it; undefined where it is not about what was selected. */
  private encode(event: CacheEvent): Uint8Array | undefined {
    if (!event.key.startsWith(this.prefix)) return undefined;
    const { definition } = this.resource;
    const { selection } = this.options;
    const after = event.after === undefined ? undefined : present(definition, event.after);
    const before = event.before === undefined ? undefined : present(definition, event.before);
    const isSelected = after !== undefined && selection.matches(after);
    const wasSelected = before !== undefined && selection.matches(before);
    if (isSelected) return this.shared(event, wasSelected ? 'MODIFIED' : 'ADDED', after);
    return wasSelected ? this.shared(event, 'DELETED', withRevision(before, event.revision)) : undefined;
  }

  /** A Table's first event carries its columns and is this watcher's own; all others are encoded once for everybody. */
  private shared(event: CacheEvent, type: string, object: ApiObject): Uint8Array {
    const isTable = this.options.render.representation.shape === 'Table';
    if (isTable && !this.hasSentColumns) return this.eventBytes(type, object);
    const key = `${type} ${this.representationKey}`;
    const known = event.encoded.get(key);
    if (known !== undefined) return known;
    const bytes = this.eventBytes(type, object);
    event.encoded.set(key, bytes);
    return bytes;
  }

  /** As `shared`, of what was there before the watch. */
  private initialBytes(stored: ApiObject, object: ApiObject): Uint8Array {
    const encode = () => this.eventBytes('ADDED', object);
    const isTable = this.options.render.representation.shape === 'Table';
    return isTable ? encode() : initialEvents.of(stored, this.representationKey, encode);
  }

  private eventBytes(type: string, object: ApiObject): Uint8Array {
    return encodeEvent(type, this.rendered(object));
  }

  private rendered(object: ApiObject): unknown {
    const { definition } = this.resource;
    const { render, world } = this.options;
    const options = { ...render, nowMs: world.clock.now() };
    if (render.representation.shape !== 'Table') return renderObject(definition, object, options);
    const withoutColumns = this.hasSentColumns;
    this.hasSentColumns = true;
    const metadata = { resourceVersion: object.metadata.resourceVersion ?? '' };
    return tableOf(definition, [object], { ...options, metadata, withoutColumns });
  }

  private bookmark(annotations?: Readonly<Record<string, string>>): Uint8Array {
    const { definition, store } = this.resource;
    const { shape, shapeVersion } = this.options.render.representation;
    const metadata = {
      resourceVersion: String(store.cache.revision),
      ...(annotations === undefined ? {} : { annotations }),
    };
    if (shape === 'Table') {
      const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${shapeVersion}`, metadata };
      const rows = [{ cells: definition.columns.map(() => null), object }];
      const table = { kind: 'Table', apiVersion: `meta.k8s.io/${shapeVersion}`, metadata, columnDefinitions: [], rows };
      return encodeEvent('BOOKMARK', table);
    }
    const type =
      shape === 'object'
        ? { kind: definition.kind, apiVersion: apiVersionOf(definition) }
        : { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${shapeVersion}` };
    return encodeEvent('BOOKMARK', { ...type, metadata });
  }

  private scheduleBookmarks(timeoutMs: number): void {
    const { clock } = this.options.world;
    const send = () => {
      // A bookmark says that everything before it was sent: only when nothing waits.
      if (!this.isClosed && !this.isWaitingForDrain) this.write(this.bookmark());
    };
    const repeat = () => {
      send();
      if (!this.isClosed) this.timers[1] = clock.after(bookmarkIntervalMs, repeat);
    };
    this.timers.push(clock.after(bookmarkIntervalMs, repeat));
    if (timeoutMs > lastBookmarkMs) this.timers.push(clock.after(timeoutMs - lastBookmarkMs, send));
  }
}

function encodeEvent(type: string, object: unknown): Uint8Array {
  return Buffer.from(`${exactJson({ type, object })}\n`, 'utf8');
}
