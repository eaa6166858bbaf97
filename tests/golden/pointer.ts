/**
 * What stands at a JSON pointer. Beside the pointers of RFC 6901: `*` is every element, `#` how many there are, `@keys` the
 * sorted keys, `[a.b=v]` the first element of a list whose a.b is v.
 */
export function valueAt(document: unknown, pointer: string): unknown {
  return pointer === '' ? document : follow(document, pointer.slice(1).split('/'));
}

function follow(value: unknown, parts: readonly string[]): unknown {
  const [part, ...rest] = parts;
  if (part === undefined || typeof value !== 'object' || value === null) return parts.length === 0 ? value : undefined;
  const elements: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (part === '*') return elements.map((element) => follow(element, rest));
  if (part === '#') return elements.length;
  if (part === '@keys') return Object.keys(value).sort();
  const condition = /^\[(.+?)=(.*)\]$/.exec(part);
  if (condition !== null) {
    const path = (condition[1] ?? '').split('.');
    return follow(
      elements.find((element) => String(follow(element, path)) === condition[2]),
      rest,
    );
  }
  const key = unescaped(part);
  return Object.hasOwn(value, key) ? follow(Reflect.get(value, key), rest) : undefined;
}

export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
