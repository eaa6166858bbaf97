import {
  type Deployment,
  deployments,
  type KubernetesObject,
  type ObjectKey,
  type OwnerReference,
  type Pod,
  type ReplicaSet,
  type ResourceType,
  replicaSets,
  type StatefulSet,
  statefulSets,
} from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { controllerOf } from '../ownership/plan-claims.js';
import { BudgetError } from './budget-error.js';
import { remoteScale } from './remote-scale.js';

/** How many pods those that control `pods` want together. */
export interface ExpectedPods {
  readonly count: number;
  /** Pods that nobody controls, which are in no count. */
  readonly unmanaged: readonly Pod[];
}

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/**
 * Sums up the scale of every controller of these pods; a ReplicaSet that has a Deployment counts as that. Those in the cache
 * are read there, any other by its scale subresource. Source: getExpectedScale of kube-controller-manager.
 *
 * @throws BudgetError when a controller has no scale.
 */
export async function expectedPods(pods: readonly Pod[], context: ReconcileContext): Promise<ExpectedPods> {
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  const unmanaged: Pod[] = [];
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined) unmanaged.push(pod);
    if (owner === undefined || seen.has(owner.uid)) continue;
    seen.add(owner.uid);
    const scale = await scaleOf(owner, pod.metadata.namespace ?? '', context);
    if (scale === undefined) throw new BudgetError(`found no controllers for pod "${pod.metadata.name ?? ''}"`);
    scales.set(scale.uid, scale.replicas);
  }
  return { count: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), unmanaged };
}

async function scaleOf(
  owner: OwnerReference,
  namespace: string,
  context: ReconcileContext,
): Promise<Scale | undefined> {
  const key = { namespace, name: owner.name };
  if (owner.apiVersion.startsWith('apps/')) {
    if (owner.kind === 'ReplicaSet') return scaleOfReplicaSet(owner, key, context);
    if (owner.kind === 'StatefulSet') return cachedScale(statefulSets, key, owner.uid, context);
  }
  const found = await remoteScale(owner, key, context);
  return found === undefined || found.uid !== owner.uid ? undefined : found;
}

function scaleOfReplicaSet({ uid }: OwnerReference, key: ObjectKey, context: ReconcileContext): Scale | undefined {
  const replicaSet = context.cache.get(replicaSets, key);
  const owner = replicaSet === undefined ? undefined : controllerOf(replicaSet);
  if (owner === undefined || owner.kind !== 'Deployment') return cachedScale(replicaSets, key, uid, context);
  return cachedScale(deployments, { ...key, name: owner.name }, owner.uid, context);
}

function cachedScale<T extends KubernetesObject & (Deployment | ReplicaSet | StatefulSet)>(
  type: ResourceType<T>,
  key: ObjectKey,
  uid: string,
  { cache }: ReconcileContext,
): Scale | undefined {
  const object = cache.get(type, key);
  return object?.metadata.uid === uid ? { uid, replicas: object.spec?.replicas ?? 1 } : undefined;
}
