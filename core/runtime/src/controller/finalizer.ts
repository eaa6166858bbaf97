import type { Client } from '@castellan/client';
import type { KubernetesObject, ResourceType } from '@castellan/machinery';
import type { OwnChange } from '../controller.js';
import { ownChange, patchLatest } from '../write/patch-latest.js';

/** `cache.example.com/memcached`. The core group has no domain of its own to name a finalizer in. */
export function defaultFinalizer({ group }: ResourceType, controllerName: string): string {
  return `${group === '' ? 'castellan' : group}/${controllerName}`;
}

export function hasFinalizer({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/** An object, and what was changed to make it so. */
export interface Changed<T> {
  readonly object: T;
  readonly change: OwnChange | undefined;
}

/** Gives the object with it; without it where it began to go meanwhile, `undefined` where it is gone. */
export async function addFinalizer<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Promise<Changed<T> | undefined> {
  let from = object;
  const written = await patchLatest(client, type, object, (latest) => {
    from = latest;
    const { finalizers = [], deletionTimestamp } = latest.metadata;
    if (deletionTimestamp !== undefined || finalizers.includes(finalizer)) return undefined;
    return { metadata: { finalizers: [...finalizers, finalizer] } };
  });
  return written && { object: written, change: ownChange(from, written) };
}

export async function removeFinalizer<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  await patchLatest(client, type, object, (latest) => {
    const { finalizers = [] } = latest.metadata;
    if (!finalizers.includes(finalizer)) return undefined;
    return { metadata: { finalizers: finalizers.filter((each) => each !== finalizer) } };
  });
}
