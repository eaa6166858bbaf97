/**
 * Puts a merged list in order. Elements that the patch names (`ordered`) come in its order; those that only the server
 * has keep their places in `serverOrder` relative to them as well as may be. All three lists are of element identities.
 */
export function arrangeElements(
  merged: readonly string[],
  ordered: readonly string[],
  serverOrder: readonly string[],
): readonly string[] {
  const rank = new Map(ordered.map((identity, index) => [identity, index]));
  const serverRank = new Map(serverOrder.map((identity, index) => [identity, index]));
  const byRank = (ranks: ReadonlyMap<string, number>) => (a: string, b: string) =>
    (ranks.get(a) ?? Number.MAX_SAFE_INTEGER) - (ranks.get(b) ?? Number.MAX_SAFE_INTEGER);
  const named = merged.filter((identity) => rank.has(identity)).sort(byRank(rank));
  const serverOnly = merged.filter((identity) => !rank.has(identity)).sort(byRank(serverRank));
  return interleave(serverOnly, named, serverRank);
}

/** Before each named element come the server's own that the server had before it. */
function interleave(
  serverOnly: readonly string[],
  named: readonly string[],
  serverRank: ReadonlyMap<string, number>,
): readonly string[] {
  const result: string[] = [];
  let next = 0;
  for (const identity of named) {
    const place = serverRank.get(identity);
    while (place !== undefined && next < serverOnly.length) {
      const candidate = serverOnly[next] ?? '';
      if ((serverRank.get(candidate) ?? Number.MAX_SAFE_INTEGER) >= place) break;
      result.push(candidate);
      next += 1;
    }
    result.push(identity);
  }
  return [...result, ...serverOnly.slice(next)];
}
