/**
 * Orders two resource versions of one resource type: below 0 when `a` is the older. They are decimal numbers of any length
 * (Kubernetes promises so since 1.35, and every server on etcd kept to it before); for others the order is not known and
 * the result is `undefined`.
 */
export function compareRevisions(a: string, b: string): number | undefined {
  if (!isRevision(a) || !isRevision(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

function isRevision(text: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(text);
}
