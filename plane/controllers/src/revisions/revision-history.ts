import {
  type ControllerRevision,
  controllerRevisions,
  isStatusError,
  type KubernetesObject,
  keyOf,
  type LabelSelector,
  type PodTemplateSpec,
  type ResourceType,
} from '@castellan/machinery';
import { ownerReferenceFor, type ReconcileContext } from '@castellan/runtime';
import { claimObjects } from '../ownership/claim-objects.js';
import { orphanRevisions } from '../ownership/orphans.js';
import { controllerOf } from '../ownership/plan-claims.js';
import { inOrder, planRevision } from './plan-revision.js';
import { isSameData, patchTo, revisionHash } from './revision-data.js';

/** Whose history it is. */
export interface RevisionOwner {
  readonly object: KubernetesObject;
  readonly type: ResourceType;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  /** The label of a revision that has its hash. */
  readonly hashLabel: string;
  /** How many times the name of a new revision was taken by another's. */
  readonly collisionCount: number;
}

export interface CurrentHistory {
  /** In order, the newest last: the one of the owner's template. */
  readonly revisions: readonly ControllerRevision[];
  readonly newest: ControllerRevision;
  readonly collisionCount: number;
}

/**
 * The revisions of an owner, in order, with those that nobody controls and that it selects, which it adopts. The controller
 * must name `orphanRevisions` in `indexes`.
 */
export async function claimRevisions(
  owner: RevisionOwner,
  context: ReconcileContext,
): Promise<readonly ControllerRevision[]> {
  const { object, type: ownerType, selector } = owner;
  const { uid = '', namespace = '' } = object.metadata;
  const owned = context.cache.ownedBy(controllerRevisions, uid);
  const orphans = context.cache.byIndex(orphanRevisions, namespace);
  // A revision whose labels are not selected is one of its history all the same: it has those of an older template.
  const claim = { object, selector, ownerType, type: controllerRevisions };
  return inOrder([...owned, ...(await claimObjects(orphans, claim, context))]);
}

/** Makes the newest of `revisions` be that of the owner's template: creates it, or gives an older one of the same template a new number. */
export async function ensureRevision(
  owner: RevisionOwner,
  revisions: readonly ControllerRevision[],
  context: ReconcileContext,
): Promise<CurrentHistory> {
  const { collisionCount } = owner;
  const plan = planRevision(revisions, patchTo(owner.template));
  switch (plan.kind) {
    case 'keep':
      return { revisions, newest: plan.revision, collisionCount };
    case 'renumber': {
      const newest = await renumber(plan.revision, plan.to, context);
      const others = revisions.filter((revision) => revision !== plan.revision);
      return { revisions: [...others, newest], newest, collisionCount };
    }
    case 'create': {
      const created = await create(owner, plan.number, context);
      return { ...created, revisions: [...revisions, created.newest] };
    }
  }
}

export async function deleteRevisions(
  revisions: readonly ControllerRevision[],
  { client, signal }: ReconcileContext,
): Promise<void> {
  for (const revision of revisions) {
    const { uid } = revision.metadata;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await client.delete(controllerRevisions, keyOf(revision), { ...preconditions, signal });
  }
}

async function renumber(revision: ControllerRevision, to: number, { client, signal }: ReconcileContext) {
  const { uid } = revision.metadata;
  const patch = { type: 'merge', body: { metadata: { uid }, revision: to } } as const;
  return client.patch(controllerRevisions, keyOf(revision), patch, { signal });
}

/** A name that another revision has, of other data, is counted; the count makes another name. */
async function create(owner: RevisionOwner, number: number, { client, signal }: ReconcileContext) {
  for (let collisionCount = owner.collisionCount; ; collisionCount += 1) {
    const revision = newRevision(owner, number, collisionCount);
    try {
      const newest = await client.create(controllerRevisions, revision, { signal });
      return { newest, collisionCount };
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
    const there = await client.get(controllerRevisions, keyOf(revision), { signal });
    const isOurs = controllerOf(there)?.uid === owner.object.metadata.uid;
    if (isOurs && isSameData(there.data, revision.data)) return { newest: there, collisionCount };
  }
}

const longestPrefix = 223;

function newRevision(owner: RevisionOwner, number: number, collisionCount: number): ControllerRevision {
  const { object, type, template, hashLabel } = owner;
  const { name = '', namespace = '', annotations } = object.metadata;
  const data = patchTo(template);
  const hash = revisionHash(data, collisionCount);
  return {
    metadata: {
      name: `${name.slice(0, longestPrefix)}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReferenceFor(object, type)],
    },
    data,
    revision: number,
  };
}
