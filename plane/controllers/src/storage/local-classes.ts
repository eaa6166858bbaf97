import { isStatusError, type StorageClass, storageAnnotations, storageClasses } from '@castellan/machinery';
import type { Component, ComponentContext } from '../component.js';

/** Of the classes below; each node agent makes the directories of its own machine. */
const localProvisioner = 'castellan.dev/local';

const retryMs = 1_000;

/**
 * Makes the storage classes `local`, the default one, and `local-immediate`, where they are not there. What somebody has
 * changed in them stays.
 */
export function localClasses({ client, world, log }: ComponentContext): Component {
  const ensure = async (object: StorageClass, signal: AbortSignal): Promise<void> => {
    try {
      await client.create(storageClasses, object, { signal });
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
  };
  return {
    name: 'local-storage-classes',
    async run(signal) {
      while (!signal.aborted) {
        try {
          await Promise.all(classes.map((object) => ensure(object, signal)));
          return;
        } catch (error) {
          if (signal.aborted) return;
          log.warn('storage classes were not made', { error: error instanceof Error ? error.message : String(error) });
          await world.clock.sleep(retryMs, signal).catch(() => undefined);
        }
      }
    },
  };
}

const classes: readonly StorageClass[] = [
  localClass('local', 'WaitForFirstConsumer', { [storageAnnotations.isDefaultClass]: 'true' }),
  localClass('local-immediate', 'Immediate'),
];

function localClass(name: string, volumeBindingMode: string, annotations?: Record<string, string>): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
    provisioner: localProvisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode,
    allowVolumeExpansion: true,
  };
}
