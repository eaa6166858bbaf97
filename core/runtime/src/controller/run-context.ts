import { formatKey, type KubernetesObject, keyOf, type OwnerReference, type ResourceType } from '@castellan/machinery';
import type { ReconcileContext } from '../controller.js';
import { type ApplyMemory, applyObject } from '../write/apply-object.js';
import { ownerReferenceFor } from '../write/owner-reference.js';
import { knownObject } from './cached-as.js';
import type { EnsureOwnedOptions, ObjectContext } from './context.js';
import { StatusDraft } from './status-draft.js';

export interface RunContextOptions<T extends KubernetesObject> {
  readonly type: ResourceType<T>;
  readonly object: T;
  readonly base: ReconcileContext;
  readonly fieldManager: string;
  readonly applied: ApplyMemory;
  /** Types, and parts of types, that are in the cache. */
  readonly cachedTypes: readonly ResourceType[];
}

/** One reconcile of one object: what it is given, and what it said of its status. */
export class RunContext<T extends KubernetesObject> {
  readonly draft = new StatusDraft();
  readonly #options: RunContextOptions<T>;

  constructor(options: RunContextOptions<T>) {
    this.#options = options;
  }

  get base(): ReconcileContext {
    return this.#options.base;
  }

  context(): ObjectContext<T> {
    const { base, object } = this.#options;
    return {
      ...base,
      get: (type, key) => base.cache.get(type, key),
      list: (type, options) => base.cache.list(type, options),
      owned: (type) => base.cache.ownedBy(type, object.metadata.uid ?? ''),
      ensure: (type, desired, options) => this.#ensure(type, desired, options),
      status: (fields) => this.draft.setFields(fields),
      condition: (type, status, reason, message) => this.draft.setCondition({ type, status, reason, message }),
      event: (note) => base.events.record(object, note),
    };
  }

  async #ensure<D extends KubernetesObject>(
    type: ResourceType<D>,
    desired: D,
    { isOwned = true }: EnsureOwnedOptions = {},
  ): Promise<D> {
    const { object, base, fieldManager, applied } = this.#options;
    const { namespace } = object.metadata;
    const isPlaced = !type.isNamespaced || desired.metadata.namespace !== undefined || namespace === undefined;
    const placed = isPlaced ? desired : { ...desired, metadata: { ...desired.metadata, namespace } };
    const key = keyOf(placed);
    const known = knownObject(base.cache, this.#options.cachedTypes, type, key);
    if (known.kind === 'part') {
      // Of a version that was looked at before, all is known that matters here.
      const wanted = isOwned ? this.#withOwner(type, placed, known.object) : placed;
      const same = applied.sameAsBefore(known.object, wanted);
      if (same !== undefined) return same;
    }
    const existing = known.kind === 'whole' ? known.object : await base.client.find(type, key);
    const wanted = isOwned ? this.#withOwner(type, placed, existing) : placed;
    const isCachedInPart = known.kind === 'part';
    return applyObject(base.client, type, wanted, { existing, fieldManager, memory: applied, isCachedInPart });
  }

  #withOwner<D extends KubernetesObject>(type: ResourceType<D>, desired: D, existing: KubernetesObject | undefined): D {
    const { object, type: ownerType } = this.#options;
    const what = `${type.kind} ${formatKey(keyOf(desired))}`;
    const owner = `${ownerType.kind} ${formatKey(keyOf(object))}`;
    const { namespace } = object.metadata;
    if (namespace !== undefined && desired.metadata.namespace !== namespace) {
      throw new Error(
        `${what} cannot be owned by ${owner}: an owner must be in the same namespace or in none. Pass { isOwned: false } ` +
          'and remove it in finalize, or put it in the same namespace',
      );
    }
    const reference = ownerReferenceFor(object, ownerType);
    const other = existing?.metadata.ownerReferences?.find(isControllerOtherThan(reference));
    if (other !== undefined) {
      throw new Error(
        `${what} has another controller, ${other.kind} ${other.name}: ${owner} must not take it; choose another name`,
      );
    }
    const others = desired.metadata.ownerReferences?.filter(({ uid }) => uid !== reference.uid) ?? [];
    return { ...desired, metadata: { ...desired.metadata, ownerReferences: [...others, reference] } };
  }
}

function isControllerOtherThan({ uid }: OwnerReference): (reference: OwnerReference) => boolean {
  return (reference) => reference.controller === true && reference.uid !== uid;
}
