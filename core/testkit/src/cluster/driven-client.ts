import type { Client, WatchEvent } from '@castellan/client';
import type { KubernetesObject } from '@castellan/machinery';

type Drive = <T>(promise: Promise<T>) => Promise<T>;

/** A client whose every call lets time pass until it is answered. */
export function drivenClient(client: Client, drive: Drive): Client {
  return {
    get: (type, key, options) => drive(client.get(type, key, options)),
    find: (type, key, options) => drive(client.find(type, key, options)),
    list: (type, options) => drive(client.list(type, options)),
    create: (type, object, options) => drive(client.create(type, object, options)),
    update: (type, object, options) => drive(client.update(type, object, options)),
    patch: (type, key, patch, options) => drive(client.patch(type, key, patch, options)),
    delete: (type, key, options) => drive(client.delete(type, key, options)),
    watch: (type, options) => drivenWatch(client.watch(type, options), drive),
    request: (request) => drive(client.request(request)),
    close: () => client.close(),
  };
}

async function* drivenWatch<T extends KubernetesObject>(
  events: AsyncIterable<WatchEvent<T>>,
  drive: Drive,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (let next = await drive(iterator.next()); next.done !== true; next = await drive(iterator.next())) {
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
