/**
 * Replaces the parts of `fresh` that are equal to the same parts of `reference` by those, so that memory holds them once:
 * pods of one owner, or two versions of one object, differ in little. Gives `reference` itself when all is equal.
 * `fresh` must be plain JSON that nobody has frozen.
 */
export function shareEqualParts<T extends object>(fresh: T, reference: T): T {
  return share(fresh, reference) === reference ? reference : fresh;
}

/** `reference` where it equals `value`, else `value` with its parts shared. */
function share(value: unknown, reference: unknown): unknown {
  if (value === reference) return reference;
  if (Array.isArray(value)) return Array.isArray(reference) ? shareItems(value, reference) : value;
  return isFields(value) && isFields(reference) ? shareFields(value, reference) : value;
}

function shareItems(items: unknown[], reference: readonly unknown[]): unknown {
  let isEqual = items.length === reference.length;
  for (let at = 0; at < items.length && at < reference.length; at += 1) {
    const shared = share(items[at], reference[at]);
    items[at] = shared;
    if (shared !== reference[at]) isEqual = false;
  }
  return isEqual ? reference : items;
}

function shareFields(fields: Record<string, unknown>, reference: Readonly<Record<string, unknown>>): unknown {
  let isEqual = true;
  let count = 0;
  for (const name in fields) {
    count += 1;
    // A key of JSON like any other, but to read or assign it would mean the prototype.
    const known = name === '__proto__' ? undefined : reference[name];
    const shared = known === undefined ? fields[name] : share(fields[name], known);
    if (known !== undefined && shared === known) fields[name] = known;
    else isEqual = false;
  }
  if (!isEqual) return fields;
  for (const _name in reference) count -= 1;
  return count === 0 ? reference : fields;
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
