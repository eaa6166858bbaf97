import { deepEqual, isList, isRecord, type JsonRecord, type KubernetesObject } from '@castellan/machinery';

/**
 * What `manager` says of `object` by server-side apply: the fields that are its own, with the values they have, in the
 * shape of the object. `undefined` where it applied nothing in this apiVersion, or the managed fields are not known.
 */
export function appliedPart(object: KubernetesObject, manager: string, apiVersion: string): unknown {
  const entry = object.metadata.managedFields?.find(
    (each) =>
      isRecord(each) &&
      each.manager === manager &&
      each.operation === 'Apply' &&
      each.apiVersion === apiVersion &&
      (each.subresource ?? '') === '',
  );
  const fields = isRecord(entry) ? entry.fieldsV1 : undefined;
  return isRecord(fields) ? partOf(object, fields) : undefined;
}

/**
 * The part of `value` that `fields` names. A leaf stands for all below it. Source: FieldsV1 of metav1.ManagedFieldsEntry:
 * `f:` names a field, `k:` an item by its keys, `v:` an item by its value, `i:` one by its place, `.` the thing itself.
 */
function partOf(value: unknown, fields: JsonRecord): unknown {
  const below = Object.entries(fields).filter(([element, child]) => element !== '.' && isRecord(child));
  if (below.length === 0) return value;
  if (isList(value)) return itemsOf(value, below);
  if (!isRecord(value)) return undefined;
  const entries: [string, unknown][] = [];
  for (const [element, child] of below) {
    const name = element.slice(2);
    if (isRecord(child) && Object.hasOwn(value, name)) entries.push([name, partOf(value[name], child)]);
  }
  return Object.fromEntries(entries);
}

/** In the order of the list. */
function itemsOf(list: readonly unknown[], elements: readonly (readonly [string, unknown])[]): readonly unknown[] {
  const found: (readonly [number, unknown])[] = [];
  for (const [element, child] of elements) {
    const at = list.findIndex((item, index) => isElement(element, item, index));
    if (at >= 0 && isRecord(child)) found.push([at, partOf(list[at], child)]);
  }
  return found.toSorted(([a], [b]) => a - b).map(([, item]) => item);
}

function isElement(element: string, item: unknown, index: number): boolean {
  const named: unknown = JSON.parse(element.slice(2));
  switch (element.slice(0, 2)) {
    case 'k:':
      // A key that the item does not have has its default.
      return (
        isRecord(named) &&
        isRecord(item) &&
        Object.entries(named).every(([key, value]) => item[key] === undefined || deepEqual(item[key], value))
      );
    case 'v:':
      return deepEqual(item, named);
    default:
      return named === index;
  }
}
