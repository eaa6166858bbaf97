import { goJsonInOrder } from '@castellan/machinery';
import { type ApiObject, isRecord, type JsonRecord } from '../json.js';
import type { FieldsOwner } from './field-validation.js';

/** The fields that a patch reaches into, as a tree; a leaf is left as it is. */
export interface Touched {
  readonly [field: string]: Touched;
}

/**
 * A patched object as refusals of it show it: what the patch has reached into is sorted, as Go's patch library keeps it
 * in a map; all else is in the order of its kind.
 */
export async function patchedText(definition: FieldsOwner, patched: ApiObject, touched: Touched): Promise<string> {
  const { inGoOrder } = await import('../types/go-order.js');
  const ordered = definition.isCustom ? patched : inGoOrder(definition, patched);
  return goJsonInOrder(sortedWhere(ordered, touched));
}

function sortedWhere(value: unknown, touched: Touched): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      const inside = touched[String(index)];
      return inside === undefined ? item : sortedWhere(item, inside);
    });
  }
  if (!isRecord(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.map((name) => {
      const inside = Object.hasOwn(touched, name) ? touched[name] : undefined;
      return [name, inside === undefined ? value[name] : sortedWhere(value[name], inside)];
    }),
  );
}

/** What a merge patch reaches into: all objects that it has itself. */
export function touchedByMerge(patch: unknown): Touched {
  const own: JsonRecord = isRecord(patch) ? patch : {};
  return Object.fromEntries(
    Object.entries(own)
      .filter(([, child]) => isRecord(child))
      .map(([name, child]) => [name, touchedByMerge(child)]),
  );
}

/** What a JSON patch reaches into: all that its paths go through. */
export function touchedByOperations(operations: unknown): Touched {
  const root: Branch = new Map();
  for (const operation of Array.isArray(operations) ? operations : []) {
    for (const path of isRecord(operation) ? [operation.path, operation.from] : []) {
      if (typeof path !== 'string') continue;
      let branch = root;
      for (const token of path.split('/').slice(1, -1)) {
        const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
        const next: Branch = branch.get(name) ?? new Map();
        branch.set(name, next);
        branch = next;
      }
    }
  }
  return touchedOf(root);
}

interface Branch extends Map<string, Branch> {}

function touchedOf(branch: Branch): Touched {
  return Object.fromEntries([...branch].map(([name, inner]) => [name, touchedOf(inner)]));
}
