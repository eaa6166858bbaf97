import type { KubernetesObject, ObjectKey, ObjectList, ResourceType } from '@castellan/machinery';

/**
 * A client of one Kubernetes API server. Every call fails with `StatusError` when the server refuses it, and with
 * `ConnectionError` when no reply came (the request may or may not have been carried out).
 * All calls take an `AbortSignal`; without one a request ends after the client's own deadline (30 s; watches excepted).
 */
export interface Client {
  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, options?: ReadOptions): Promise<T>;
  /** As `get`, but `undefined` where the object is not there. */
  find<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: ReadOptions,
  ): Promise<T | undefined>;
  list<T extends KubernetesObject>(type: ResourceType<T>, options?: ListOptions): Promise<ObjectList<T>>;
  create<T extends KubernetesObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  /** Replaces an object; with a resourceVersion in it, only that version of it. */
  update<T extends KubernetesObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Resolves when the server has accepted the deletion; `false` when the object was not there. */
  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /**
   * One watch stream, until the server ends it, `signal` aborts or the caller stops iterating. An ERROR event of the
   * server is thrown as `StatusError` (410 Expired among them).
   */
  watch<T extends KubernetesObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** A request to any path; the reply whatever its status. The caller must read or cancel the body. */
  request(request: RawRequest): Promise<RawResponse>;
  close(): Promise<void>;
}

export interface ReadOptions {
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
}

export interface ListOptions extends ReadOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
  /** Ask for PartialObjectMetadata instead of whole objects. */
  readonly metadataOnly?: boolean;
}

export interface WatchOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /** Whole seconds after which the server ends the stream. */
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
  readonly signal?: AbortSignal;
}

export type WatchEvent<T extends KubernetesObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubernetesObject };

export interface WriteOptions {
  /** `status`, `scale`, `binding`, …: write that subresource. */
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  readonly signal?: AbortSignal;
}

export type Patch =
  | { readonly type: 'json'; readonly body: readonly unknown[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: unknown }
  | { readonly type: 'apply'; readonly body: unknown; readonly fieldManager: string; readonly force?: boolean };

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly signal?: AbortSignal;
}

export interface RawRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}
