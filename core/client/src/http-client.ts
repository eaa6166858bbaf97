import {
  apiVersionOf,
  exactJson,
  isStatusError,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type ObjectList,
  parseExactJson,
  type ResourceType,
  resourcePath,
} from '@castellan/machinery';
import type { World } from '@castellan/world';
import type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RawRequest,
  RawResponse,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.js';
import { Exchange, type ExchangeOptions } from './exchange.js';
import { listQuery, readQuery, writeQuery } from './query.js';
import { isObjectOf } from './reply.js';
import type { Transport } from './transport/transport.js';
import { watchStream } from './watch-stream.js';

const patchContentTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML; the server takes either under this name.
  apply: 'application/apply-patch+yaml',
} as const;

const metadataListAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The Client over a Transport. */
export class HttpClient implements Client {
  readonly #exchange: Exchange;
  readonly #transport: Transport;
  readonly #world: World;

  constructor(options: ExchangeOptions) {
    this.#exchange = new Exchange(options);
    this.#transport = options.transport;
    this.#world = options.world;
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, options: ReadOptions = {}): Promise<T> {
    return this.#object<T>({ method: 'GET', path: resourcePath(type, key) + readQuery(options), ...signalOf(options) });
  }

  async find<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options: ReadOptions = {},
  ): Promise<T | undefined> {
    try {
      return await this.get(type, key, options);
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async list<T extends KubernetesObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const request: RawRequest = {
      method: 'GET',
      path: collectionPath(type, options.namespace) + listQuery(options),
      ...(options.metadataOnly === true ? { headers: { accept: metadataListAccept } } : {}),
      ...signalOf(options),
    };
    const list: unknown = await this.#json(request);
    if (!isList<T>(list)) throw this.#malformed(request, 'it is not a list');
    if (list.items.every(({ kind }) => kind !== undefined)) return list;
    // Items of built-in kinds come without these two, which the type of the list says.
    const itemType = { apiVersion: apiVersionOf(type), kind: type.kind };
    return { ...list, items: list.items.map((item) => ({ ...itemType, ...item })) };
  }

  create<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata;
    const path =
      options.subresource === undefined
        ? collectionPath(type, namespace)
        : resourcePath(type, { ...keyOf(object), name: name ?? '', subresource: options.subresource });
    return this.#write<T>('POST', path, { body: withTypeOf(type, object), options });
  }

  update<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = resourcePath(type, { ...keyOf(object), ...subresourceOf(options) });
    return this.#write<T>('PUT', path, { body: withTypeOf(type, object), options });
  }

  patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = resourcePath(type, { ...key, ...subresourceOf(options) });
    const isApply = patch.type === 'apply';
    return this.#write<T>('PATCH', path, {
      body: patch.body,
      contentType: patchContentTypes[patch.type],
      options: isApply ? { ...options, fieldManager: patch.fieldManager } : options,
      ...(isApply && patch.force !== undefined ? { force: patch.force } : {}),
    });
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const { signal, ...deleteOptions } = options;
    try {
      await this.#exchange.text({
        method: 'DELETE',
        path: resourcePath(type, key),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions }),
        ...signalOf({ signal }),
      });
      return true;
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return false;
      throw error;
    }
  }

  watch<T extends KubernetesObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return watchStream(this.#exchange, this.#world, type, options);
  }

  request(request: RawRequest): Promise<RawResponse> {
    return this.#exchange.open(request);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #write<T extends KubernetesObject>(
    method: string,
    path: string,
    write: {
      readonly body: unknown;
      readonly options: WriteOptions;
      readonly contentType?: string;
      readonly force?: boolean;
    },
  ): Promise<T> {
    return this.#object<T>({
      method,
      path: path + writeQuery(write.options, write.force),
      headers: { 'content-type': write.contentType ?? 'application/json' },
      body: exactJson(write.body),
      ...signalOf(write.options),
    });
  }

  async #object<T extends KubernetesObject>(request: RawRequest): Promise<T> {
    const value = await this.#json(request);
    if (!isObjectOf<T>(value)) throw this.#malformed(request, 'it is not an object');
    return value;
  }

  async #json(request: RawRequest): Promise<unknown> {
    const text = await this.#exchange.text(request);
    try {
      return parseExactJson(text);
    } catch (error) {
      throw this.#exchange.failure(error, request);
    }
  }

  #malformed(request: RawRequest, why: string): unknown {
    return this.#exchange.failure(new SyntaxError(why), request);
  }
}

function collectionPath(type: ResourceType, namespace: string | undefined): string {
  return resourcePath(type, namespace === undefined ? {} : { namespace });
}

function subresourceOf(options: WriteOptions): { readonly subresource?: string } {
  return options.subresource === undefined ? {} : { subresource: options.subresource };
}

function signalOf(options: { readonly signal?: AbortSignal | undefined }): { readonly signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}

/** Fills in kind and apiVersion where the caller left them to the type; a subresource's body may be of another kind. */
function withTypeOf<T extends KubernetesObject>(type: ResourceType<T>, object: T): T {
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: object.apiVersion ?? apiVersionOf(type), kind: object.kind ?? type.kind };
}

function isList<T extends KubernetesObject>(value: unknown): value is ObjectList<T> {
  return isObjectOf(value) && 'items' in value && Array.isArray(value.items);
}
