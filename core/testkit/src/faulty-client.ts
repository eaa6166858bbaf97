import type { Client, DeleteOptions, ListOptions, Patch, ReadOptions, WriteOptions } from '@castellan/client';
import {
  formatKey,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type ObjectList,
  type ResourceType,
  resourceName,
  StatusError,
} from '@castellan/machinery';

export interface Faults {
  /** The process "dies" when it asks for the write after this many: that write and all later requests are not made. */
  readonly crashAfterWrites?: number;
  /** After each write, this many reads show the state from before it, where that was read before. */
  readonly staleReads?: number;
  /** The first this many updates and patches are refused with 409 Conflict, and not made. */
  readonly conflicts?: number;
}

/** Thrown by a `faultyClient` whose process is taken to be dead. */
export class CrashError extends Error {
  override readonly name = 'CrashError';
}

export interface FaultyClient extends Client {
  /** What was carried out, as `create pods default/a` or `patch pods/status default/a`. */
  readonly writes: readonly string[];
  readonly isCrashed: boolean;
}

/**
 * A client that fails in the given ways and notes every write that it lets through; without faults it only notes. Watches
 * and raw requests pass unchanged until the crash.
 */
export function faultyClient(client: Client, faults: Faults = {}): FaultyClient {
  return new FaultInjector(client, faults);
}

class FaultInjector implements FaultyClient {
  readonly writes: string[] = [];
  isCrashed = false;
  readonly #client: Client;
  readonly #faults: Faults;
  /** What was answered to each question before the last write. */
  readonly #answers = new Map<string, unknown>();
  #staleReadsLeft = 0;
  #conflictsLeft: number;

  constructor(client: Client, faults: Faults) {
    this.#client = client;
    this.#faults = faults;
    this.#conflictsLeft = faults.conflicts ?? 0;
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, options?: ReadOptions): Promise<T> {
    return this.#read(`get ${resourceName(type)} ${formatKey(key)}`, () => this.#client.get(type, key, options));
  }

  find<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: ReadOptions,
  ): Promise<T | undefined> {
    return this.#read(`find ${resourceName(type)} ${formatKey(key)}`, () => this.#client.find(type, key, options));
  }

  list<T extends KubernetesObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { signal: _, ...query } = options;
    return this.#read(`list ${resourceName(type)} ${JSON.stringify(query)}`, () => this.#client.list(type, options));
  }

  create<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#write(`create ${target(type, options)} ${formatKey(keyOf(object))}`, () =>
      this.#client.create(type, object, options),
    );
  }

  update<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#write(`update ${target(type, options)} ${formatKey(keyOf(object))}`, () => {
      this.#refuseIfDue(type, keyOf(object));
      return this.#client.update(type, object, options);
    });
  }

  patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write(`patch ${target(type, options)} ${formatKey(key)}`, () => {
      this.#refuseIfDue(type, key);
      return this.#client.patch(type, key, patch, options);
    });
  }

  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    return this.#write(`delete ${resourceName(type)} ${formatKey(key)}`, () => this.#client.delete(type, key, options));
  }

  watch: Client['watch'] = (type, options) => {
    this.#requireAlive();
    return this.#client.watch(type, options);
  };

  request: Client['request'] = async (request) => {
    this.#requireAlive();
    return await this.#client.request(request);
  };

  /** The client beneath stays open: it is its opener's. */
  async close(): Promise<void> {}

  async #read<T>(question: string, read: () => Promise<T>): Promise<T> {
    this.#requireAlive();
    if (this.#staleReadsLeft > 0 && this.#answers.has(question)) {
      this.#staleReadsLeft--;
      // The same question has the same type of answer.
      return this.#answers.get(question) as T;
    }
    const answer = await read();
    this.#answers.set(question, answer);
    return answer;
  }

  async #write<T>(name: string, write: () => Promise<T>): Promise<T> {
    this.#requireAlive();
    if (this.writes.length === this.#faults.crashAfterWrites) {
      this.isCrashed = true;
      this.#requireAlive();
    }
    const result = await write();
    this.writes.push(name);
    this.#staleReadsLeft = this.#faults.staleReads ?? 0;
    return result;
  }

  #refuseIfDue(type: ResourceType, key: ObjectKey): void {
    if (this.#conflictsLeft === 0) return;
    this.#conflictsLeft--;
    const name = `${resourceName(type)} "${key.name}"`;
    const advice = 'the object has been modified; please apply your changes to the latest version and try again';
    throw StatusError.of('Conflict', `Operation cannot be fulfilled on ${name}: ${advice}`);
  }

  #requireAlive(): void {
    if (this.isCrashed) throw new CrashError(`the process was stopped after ${this.writes.length} writes`);
  }
}

function target(type: ResourceType, { subresource }: WriteOptions): string {
  return subresource === undefined ? resourceName(type) : `${resourceName(type)}/${subresource}`;
}
