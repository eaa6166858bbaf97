import { deepEqual, exactJson, isRecord, type KubernetesObject, ownValue } from '@castellan/machinery';

/** One field that a write changed. */
export interface ChangedField {
  /** `spec.replicas`, `status.conditions[0].status`. */
  readonly path: string;
  /** Short enough for a message. */
  readonly value: string;
}

const mostFields = 50;
const mostCharacters = 60;

/** What changes with every write, and says nothing of it. */
const bookkeeping = new Set(['metadata.resourceVersion', 'metadata.managedFields', 'metadata.generation']);

/** The fields in which `after` differs from `before`, 50 at most. */
export function changedFields(before: KubernetesObject, after: KubernetesObject): readonly ChangedField[] {
  const changes: ChangedField[] = [];
  compare(before, after, '', changes);
  return changes;
}

function compare(before: unknown, after: unknown, path: string, changes: ChangedField[]): void {
  if (changes.length >= mostFields || bookkeeping.has(path) || deepEqual(before, after)) return;
  if (isRecord(before) && isRecord(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(ownValue(before, name), ownValue(after, name), path === '' ? name : `${path}.${name}`, changes);
    }
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of before.entries()) compare(item, after[index], `${path}[${index}]`, changes);
  } else {
    changes.push({ path, value: shown(after) });
  }
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : exactJson(value);
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}
