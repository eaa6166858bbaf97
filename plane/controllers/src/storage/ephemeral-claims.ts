import {
  claimOfVolume,
  isStatusError,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Volume,
} from '@castellan/machinery';
import { type Controller, ownerReferenceFor, ownerSource, type ReconcileContext } from '@castellan/runtime';

/**
 * Makes the claims of pods with ephemeral volumes: each belongs to its pod, and goes with it. Named as the source of its
 * events is upstream. Source: Kubernetes, "Ephemeral Volumes".
 */
export function ephemeralClaimController(): Controller<Pod> {
  return {
    name: 'ephemeral-volume-controller',
    for: pods,
    // One that goes while its pod is there is made again.
    watches: [ownerSource(persistentVolumeClaims, { when: ({ kind }) => kind === 'deleted' })],
    when: ({ kind, object }) => kind === 'added' && hasEphemeral(object),
    concurrency: 4,
    async reconcile(key, context) {
      const pod = context.cache.get(pods, key);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
      for (const volume of pod.spec?.volumes ?? []) await ensureClaim(pod, volume, context);
      return undefined;
    },
  };
}

function hasEphemeral({ spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined);
}

async function ensureClaim(pod: Pod, volume: Volume, context: ReconcileContext): Promise<void> {
  const key = claimOfVolume(pod, volume);
  const template = volume.ephemeral?.volumeClaimTemplate;
  if (key === undefined || template === undefined) return;
  const { cache, client, events, signal } = context;
  const found = cache.get(persistentVolumeClaims, key);
  try {
    if (found === undefined) await client.create(persistentVolumeClaims, claimFor(pod, key.name, template), { signal });
    else if (!isOwnedBy(found, pod)) {
      const [claimName, podName] = [`${key.namespace}/${key.name}`, `${key.namespace}/${pod.metadata.name}`];
      throw new Error(`PVC ${claimName} was not created for pod ${podName} (pod is not owner)`);
    }
  } catch (error) {
    // Made by an earlier pass whose reply was lost, or by somebody else: the next pass sees which.
    const reason = error instanceof Error ? error.message : String(error);
    const why = found === undefined ? `create PVC ${key.name}: ${reason}` : reason;
    if (!isStatusError(error, 'AlreadyExists')) {
      events.record(pod, {
        type: 'Warning',
        reason: 'FailedBinding',
        message: `ephemeral volume ${volume.name}: ${why}`,
      });
    }
    throw error;
  }
}

type Template = NonNullable<NonNullable<Volume['ephemeral']>['volumeClaimTemplate']>;

function claimFor(pod: Pod, name: string, { metadata, spec }: Template): PersistentVolumeClaim {
  const { namespace } = pod.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      ownerReferences: [ownerReferenceFor(pod, pods)],
      ...(metadata?.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
    },
    spec,
  };
}

function isOwnedBy({ metadata }: PersistentVolumeClaim, pod: Pod): boolean {
  return (
    metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid) === true
  );
}
