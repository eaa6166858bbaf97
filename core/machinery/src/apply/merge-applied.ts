import { isList, isRecord, ownValue, withChanges } from '../value/record.js';
import { type FieldTypes, untyped } from './field-types.js';
import { itemIdentity } from './path-element.js';

/** `live` with all that `applied` says: fields and items are merged where the types allow, else replaced. */
export function mergeApplied(live: unknown, applied: unknown, types: FieldTypes): unknown {
  if (applied === undefined) return live;
  if (isRecord(live) && isRecord(applied) && !types.isAtomicObject) {
    const changes = new Map<string, unknown>();
    for (const [name, value] of Object.entries(applied)) {
      const before = ownValue(live, name);
      const after = mergeApplied(before, value, types.field(name) ?? untyped);
      if (after !== before) changes.set(name, after);
    }
    return withChanges(live, changes);
  }
  const identify = itemIdentity(types);
  if (!isList(live) || !isList(applied) || identify === undefined) return applied;
  const before = new Map(live.map((item) => [identify(item), item]));
  const wanted = new Map(applied.map((item) => [identify(item), item]));
  return mergeOrder([...before.keys()], [...wanted.keys()]).map((identity) =>
    mergeApplied(before.get(identity), wanted.get(identity), types.items),
  );
}

/**
 * Both lists in one. Each keeps its own order, and what only `live` has comes as early as that allows; where they
 * disagree on the order of shared items, `applied` wins.
 */
function mergeOrder(live: readonly string[], applied: readonly string[]): readonly string[] {
  const isLive = new Set(live);
  const isApplied = new Set(applied);
  const shared = applied.filter((identity) => isLive.has(identity));
  const result: string[] = [];
  let next = 0;
  for (const identity of applied) {
    for (; next < live.length && live[next] !== shared[0]; next += 1) takeOwn(live[next]);
    if (identity === shared[0]) shared.shift();
    result.push(identity);
  }
  for (; next < live.length; next += 1) takeOwn(live[next]);
  return result;

  /** Takes what only `live` has; a shared item comes in its turn of `applied`. */
  function takeOwn(identity: string | undefined): void {
    if (identity !== undefined && !isApplied.has(identity)) result.push(identity);
  }
}
