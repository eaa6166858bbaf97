import type { ObjectMeta, OwnerReference } from '@castellan/machinery';
import type { ServedResource } from '../discovery.js';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** An object that exists, as far as its watch has told. */
export interface GraphNode {
  readonly resource: ServedResource;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerReference[];
  readonly phase: DeletionPhase;
}

/**
 * - `none`: not being deleted, or deleted without a part for us (somebody else's finalizer or a grace period holds it).
 * - `foreground`: waits until the dependents that block it are gone.
 * - `orphan`: waits until its dependents no longer name it.
 */
export type DeletionPhase = 'none' | 'foreground' | 'orphan';

/** The uids of the objects that have to be looked at after a change. Which of them are to go is not decided here. */
export type Suspects = readonly string[];

/**
 * Who owns whom, by uid, from metadata watches. A dependent may be known before its owner; owners that were never seen
 * have dependents here too. The graph is only a hint of what to look at: nothing is deleted by it alone (SPEC.md).
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  dependentsOf(uid: string): readonly GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#nodes.get(dependent) ?? []);
  }

  /** The uids of all objects of one resource: what a new list is compared with. */
  uidsOf(resource: ServedResource): readonly string[] {
    return [...this.#nodes.values()].filter((node) => isSameResource(node.resource, resource)).map(({ uid }) => uid);
  }

  /** All owners of this object are known where it says and stay, and nothing waits for us: no need to ask the server. */
  isSettled(uid: string): boolean {
    const node = this.#nodes.get(uid);
    if (node === undefined) return true;
    return node.phase === 'none' && !node.owners.some((reference) => this.#isSuspicious(reference, node));
  }

  /** An object was listed, added or changed. */
  observe(resource: ServedResource, metadata: ObjectMeta): Suspects {
    const { uid, name = '', namespace, ownerReferences: owners = [] } = metadata;
    if (uid === undefined) return [];
    const before = this.#nodes.get(uid);
    const node: GraphNode = { resource, uid, name, namespace, owners, phase: phaseOf(metadata) };
    this.#nodes.set(uid, node);
    this.#relink(uid, before?.owners ?? [], owners);

    const suspects = new Set<string>();
    if (before === undefined || !isSameOwners(before.owners, owners)) {
      if (owners.some((reference) => this.#isSuspicious(reference, node))) suspects.add(uid);
      this.#addWaitingOwners(before?.owners ?? [], suspects);
    }
    if (before === undefined) {
      for (const dependent of this.dependentsOf(uid)) {
        if (dependent.owners.some((reference) => reference.uid === uid && !isAt(reference, node, dependent))) {
          suspects.add(dependent.uid);
        }
      }
    }
    if (node.phase !== 'none' && node.phase !== before?.phase) {
      suspects.add(uid);
      if (node.phase === 'foreground') for (const dependent of this.dependentsOf(uid)) suspects.add(dependent.uid);
    }
    return [...suspects];
  }

  /** An object is gone. Its dependents have lost an owner; a foreground deletion may have been waiting for it. */
  remove(uid: string): Suspects {
    const node = this.#nodes.get(uid);
    if (node === undefined) return [];
    this.#nodes.delete(uid);
    this.#relink(uid, node.owners, []);
    const suspects = new Set(this.#dependents.get(uid));
    this.#addWaitingOwners(node.owners, suspects);
    return [...suspects];
  }

  #isSuspicious(reference: OwnerReference, dependent: GraphNode): boolean {
    const owner = this.#nodes.get(reference.uid);
    return owner === undefined || owner.phase === 'foreground' || !isAt(reference, owner, dependent);
  }

  #addWaitingOwners(owners: readonly OwnerReference[], suspects: Set<string>): void {
    for (const { uid } of owners) if (this.#nodes.get(uid)?.phase === 'foreground') suspects.add(uid);
  }

  #relink(uid: string, before: readonly OwnerReference[], after: readonly OwnerReference[]): void {
    for (const owner of before) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
    for (const owner of after) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set<string>();
      this.#dependents.set(owner.uid, dependents);
      dependents.add(uid);
    }
  }
}

export function phaseOf(metadata: ObjectMeta): DeletionPhase {
  if (metadata.deletionTimestamp === undefined) return 'none';
  if (metadata.finalizers?.includes(orphanFinalizer)) return 'orphan';
  return metadata.finalizers?.includes(foregroundFinalizer) ? 'foreground' : 'none';
}

export function isSameResource(a: ServedResource, b: ServedResource): boolean {
  return a.group === b.group && a.plural === b.plural;
}

/** Whether a reference says rightly where its owner is: kind and name, in the dependent's own namespace. */
function isAt(reference: OwnerReference, owner: GraphNode, dependent: GraphNode): boolean {
  const isReachable = !owner.resource.isNamespaced || owner.namespace === dependent.namespace;
  return isReachable && reference.kind === owner.resource.kind && reference.name === owner.name;
}

function isSameOwners(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((owner, index) => {
    const other = b[index];
    return owner.uid === other?.uid && owner.blockOwnerDeletion === other.blockOwnerDeletion;
  });
}
