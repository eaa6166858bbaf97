import {
  type Condition,
  isList,
  isRecord,
  type JsonRecord,
  type KubernetesObject,
  setCondition,
} from '@castellan/machinery';

/** What one reconcile said of the status, until it ends. */
export class StatusDraft {
  readonly #fields = new Map<string, unknown>();
  readonly #conditions = new Map<string, Condition>();

  get isEmpty(): boolean {
    return this.#fields.size === 0 && this.#conditions.size === 0;
  }

  setFields(fields: object): void {
    for (const [name, value] of Object.entries(fields)) this.#fields.set(name, value);
  }

  setCondition(condition: Condition): void {
    this.#conditions.set(condition.type, condition);
  }

  /** One that stands unless the reconcile said another of its type. */
  setDefaultCondition(condition: Condition): void {
    if (!this.#conditions.has(condition.type)) this.setCondition(condition);
  }

  /** The status that is to follow `before`. */
  applyTo(before: JsonRecord, { now, generation, isComplete }: Reconciled): JsonRecord {
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    const status = { ...before, ...Object.fromEntries(this.#fields), ...(isComplete ? observed : {}) };
    if (this.#conditions.size === 0) return status;
    let conditions = conditionsOf(status);
    const earlier = conditionsOf(before);
    for (const condition of this.#conditions.values()) {
      // Where the reconcile gave a list of its own, without this one, it is still as old as it was.
      const own = earlier.find(({ type }) => type === condition.type);
      if (own !== undefined && !conditions.some(({ type }) => type === own.type)) conditions = [...conditions, own];
      conditions = setCondition(conditions, { ...condition, ...observed }, now);
    }
    return { ...status, conditions };
  }
}

interface Reconciled {
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Of the object that was reconciled; the one that is there by now may be another. */
  readonly generation: number | undefined;
  /** Whether the reconcile came to its end: then the status says that this generation was observed. */
  readonly isComplete: boolean;
}

export function statusOf(object: KubernetesObject): JsonRecord {
  return isRecord(object) && isRecord(object.status) ? object.status : {};
}

function conditionsOf({ conditions }: JsonRecord): readonly Condition[] {
  return isList(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is Condition {
  return isRecord(value) && typeof value.type === 'string' && typeof value.status === 'string';
}
