/** v2 before v1 before v1beta1 before v1alpha1 before any other name. Source: apimachinery's version priority. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  for (let index = 0; index < a.length; index += 1) {
    const difference = (b[index] ?? 0) - (a[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

function rank(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const stability = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
