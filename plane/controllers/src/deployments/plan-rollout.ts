import { apiVersionOf, type Deployment, deepEqual, type ReplicaSet, replicaSets } from '@castellan/machinery';
import { isBeingDeleted } from '../ownership/plan-claims.js';
import { isBeingScaled, scaled, withSizes } from './proportional-scale.js';
import { revisionOf, rolloutAnnotations, sizeAnnotations } from './replica-set-annotations.js';
import { nextSize, shrunk } from './rolling-update.js';
import { allOf, presentRevision, type RolloutView, rolloutView, sizeOf } from './rollout-view.js';
import { templateHash, templateHashLabel } from './template-hash.js';

export interface RolloutPlan {
  /** The ReplicaSet of a new template, without its owner. */
  readonly create: ReplicaSet | undefined;
  readonly change: readonly ReplicaSetChange[];
  /** The Deployment is paused, being scaled or deleted: whether it makes progress is not judged. */
  readonly isHeld: boolean;
}

export interface ReplicaSetChange {
  readonly before: ReplicaSet;
  readonly after: ReplicaSet;
}

/** The next writes of a Deployment with these ReplicaSets: what all of them together may do now. */
export function planRollout(deployment: Deployment, owned: readonly ReplicaSet[]): RolloutPlan {
  const before = rolloutView(deployment, owned);
  if (isBeingDeleted(deployment)) return { create: undefined, change: [], isHeld: true };
  const isHeld = deployment.spec?.paused === true || isBeingScaled(deployment, before);
  const view = { ...before, current: asCurrent(deployment, before) };
  const after = isHeld ? scaled(deployment, view) : rolled(deployment, view);
  return {
    create: before.current === undefined ? after.current : undefined,
    change: changesOf(before, after),
    isHeld,
  };
}

/**
 * The oldest of the ReplicaSets that can be rolled back to, beyond the limit, unless they still have pods. None before the
 * rollout is complete, unless the Deployment is paused.
 */
export function obsoleteReplicaSets(deployment: Deployment, { old }: RolloutView): readonly ReplicaSet[] {
  const { paused, revisionHistoryLimit: limit } = deployment.spec ?? {};
  if (limit === undefined || limit === unlimited || isBeingDeleted(deployment)) return [];
  if (paused !== true && !isComplete(deployment)) return [];
  const kept = old.filter((each) => !isBeingDeleted(each)).toSorted((a, b) => revisionOf(a) - revisionOf(b));
  return kept.slice(0, Math.max(0, kept.length - limit)).filter((each) => !hasPods(each) && sizeOf(each) === 0);
}

const unlimited = 2_147_483_647;

/** All pods are of the present template, as many as wanted, and available; and the status says so of the present spec. */
export function isComplete({ spec, status, metadata }: Deployment): boolean {
  const { replicas = 1 } = spec ?? {};
  return (
    (status?.updatedReplicas ?? 0) === replicas &&
    (status?.replicas ?? 0) === replicas &&
    (status?.availableReplicas ?? 0) === replicas &&
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

function rolled(deployment: Deployment, view: RolloutView): RolloutView {
  return deployment.spec?.strategy?.type === 'Recreate' ? recreated(deployment, view) : updated(deployment, view);
}

/** The old pods are gone before the first new one is made. */
function recreated(deployment: Deployment, view: RolloutView): RolloutView {
  const tooLarge = view.old.filter((each) => sizeOf(each) > 0);
  if (tooLarge.length > 0) return withSizes(deployment, view, new Map(tooLarge.map((each) => [each, 0])));
  return view.old.some(hasPods) ? view : grown(deployment, view);
}

/** It has pods that have not ended, or it is not known yet that it has none. */
function hasPods({ metadata, status }: ReplicaSet): boolean {
  const isOfNow = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return !isOfNow || (status?.replicas ?? 0) > 0 || (status?.terminatingReplicas ?? 0) > 0;
}

/** Growing comes first: an old pod goes only in a pass in which no new one was asked for. */
function updated(deployment: Deployment, view: RolloutView): RolloutView {
  const next = grown(deployment, view);
  const hasChanged = view.current !== undefined && next.current !== view.current;
  return hasChanged ? next : shrunk(deployment, next);
}

function grown(deployment: Deployment, view: RolloutView): RolloutView {
  const { current } = view;
  const size = nextSize(deployment, view);
  if (current === undefined) return { ...view, current: newReplicaSet(deployment, presentRevision(view), size) };
  return sizeOf(current) === size ? view : withSizes(deployment, view, new Map([[current, size]]));
}

/** The current ReplicaSet with what follows from the Deployment's own fields. */
function asCurrent(deployment: Deployment, view: RolloutView): ReplicaSet | undefined {
  const { current } = view;
  if (current?.spec === undefined) return current;
  const { minReadySeconds = 0 } = deployment.spec ?? {};
  const annotations = rolloutAnnotations(deployment, current.metadata.annotations ?? {}, presentRevision(view));
  const { minReadySeconds: before = 0 } = current.spec;
  const spec = before === minReadySeconds ? current.spec : { ...current.spec, minReadySeconds };
  return { ...current, metadata: { ...current.metadata, annotations }, spec };
}

function newReplicaSet(deployment: Deployment, revision: number, replicas: number): ReplicaSet {
  const { minReadySeconds = 0, selector, template = {} } = deployment.spec ?? {};
  const { name = '', namespace = '' } = deployment.metadata;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash };
  return {
    apiVersion: apiVersionOf(replicaSets),
    kind: replicaSets.kind,
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { ...rolloutAnnotations(deployment, {}, revision), ...sizeAnnotations(deployment) },
    },
    spec: {
      replicas,
      ...(minReadySeconds > 0 && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [templateHashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function changesOf(before: RolloutView, after: RolloutView): readonly ReplicaSetChange[] {
  const byUid = new Map(allOf(after).map((each) => [each.metadata.uid, each]));
  return allOf(before).flatMap((each) => {
    const wanted = byUid.get(each.metadata.uid);
    return wanted === undefined || deepEqual(each, wanted) ? [] : [{ before: each, after: wanted }];
  });
}
