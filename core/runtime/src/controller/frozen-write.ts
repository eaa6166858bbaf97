import { formatKey, isRecord, type KubernetesObject, keyOf } from '@castellan/machinery';

/** Only looked at when a reconcile has failed; more would take long. */
const mostObjects = 2_000;
const mostPlaces = 3;

/**
 * What to say where a reconcile tried to change an object of the cache: which field of which object, and what to do
 * instead. V8's TypeError names the property only; it is looked up in `objects`, which are all frozen in depth.
 *
 * @param objects what the reconcile may have read, the likeliest first.
 * @returns `undefined` when `error` is something else.
 */
export function explainFrozenWrite(error: unknown, objects: Iterable<KubernetesObject>): Error | undefined {
  const attempt = error instanceof TypeError ? attemptOf(error.message) : undefined;
  if (attempt === undefined) return undefined;
  const places = new Set<string>();
  let seen = 0;
  for (const object of objects) {
    if (seen === mostObjects || places.size >= mostPlaces) break;
    seen += 1;
    const name = `${object.kind ?? 'object'} ${formatKey(keyOf(object))}`;
    for (const path of pathsTo(object, attempt, '')) places.add(`${path} of ${name}`);
  }
  const where =
    places.size === 0
      ? `the property ${attempt.property} of a frozen object`
      : [...places].slice(0, mostPlaces).join(', or ');
  return new Error(
    `a reconcile must not change what it read from the cache, which all controllers share: it tried to ${attempt.verb} ` +
      `${where}. Change a copy instead: { ...object, spec: { ...object.spec, field: value } }, or structuredClone(object)`,
    { cause: error },
  );
}

interface Attempt {
  readonly verb: 'set' | 'add' | 'delete';
  readonly property: string;
  /** Where a property was added: the length of the list, when it looks like one. */
  readonly length: number | undefined;
}

/** The texts are those of V8. */
function attemptOf(message: string): Attempt | undefined {
  const set = /^Cannot assign to read only property '(.+)' of object/.exec(message)?.[1];
  if (set !== undefined) return { verb: 'set', property: set, length: undefined };
  const deleted = /^Cannot delete property '(.+)' of /.exec(message)?.[1];
  if (deleted !== undefined) return { verb: 'delete', property: deleted, length: undefined };
  const added = /^Cannot add property (.+), object is not extensible/.exec(message)?.[1];
  if (added === undefined) return undefined;
  return { verb: 'add', property: added, length: /^\d+$/.test(added) ? Number(added) : undefined };
}

function* pathsTo(value: unknown, attempt: Attempt, path: string): Generator<string, void, undefined> {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return;
  const { verb, property, length } = attempt;
  if (verb === 'add') {
    // Which object had a property added cannot be told, save for a list, to which the next item was.
    if (Array.isArray(value) && value.length === length) yield `${path}[${property}]`;
  } else if (Object.hasOwn(value, property)) {
    yield below(path, value, property);
  }
  for (const [name, child] of Object.entries(value)) {
    if (isRecord(child) || Array.isArray(child)) yield* pathsTo(child, attempt, below(path, value, name));
  }
}

function below(path: string, parent: object, name: string): string {
  if (Array.isArray(parent)) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
}
