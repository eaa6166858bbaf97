type Fields = Readonly<Record<string, unknown>>;

/**
 * The JSON merge patch (RFC 7386) that brings `live` to what `wanted` says: fields that `wanted` sets, and null for
 * fields that `before` (what was applied last) set and `wanted` no longer has. Fields that others set stay. Lists are
 * replaced as a whole. `undefined` when nothing would change.
 */
export function mergePatch(before: unknown, wanted: Fields, live: unknown): Fields | undefined {
  const patch: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(wanted)) {
    const present = fieldOf(live, name);
    if (isFields(value)) {
      const inner = isFields(present) ? mergePatch(fieldOf(before, name), value, present) : value;
      if (inner !== undefined) patch[name] = inner;
    } else if (!isEqual(value, present)) {
      patch[name] = value;
    }
  }
  for (const name of isFields(before) ? Object.keys(before) : []) {
    if (!(name in wanted) && fieldOf(live, name) !== undefined) patch[name] = null;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function fieldOf(value: unknown, name: string): unknown {
  return isFields(value) ? value[name] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEqual(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => isEqual(item, right[at]));
  }
  if (isFields(left) && isFields(right)) {
    const names = Object.keys(left);
    return names.length === Object.keys(right).length && names.every((name) => isEqual(left[name], right[name]));
  }
  return left === right;
}
