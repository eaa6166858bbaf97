/** The greatest becomes 100, the others their share of it. Nothing but zeros stays so. */
export function share(scores: readonly number[]): readonly number[] {
  const most = Math.max(0, ...scores);
  return most === 0 ? scores : scores.map((score) => Math.floor((100 * score) / most));
}

/** As `share`, turned round: the less the better. */
export function reversedShare(scores: readonly number[]): readonly number[] {
  return share(scores).map((score) => 100 - score);
}

/** The least becomes 0 and the greatest 100. */
export function stretched(scores: readonly number[]): readonly number[] {
  const least = Math.min(...scores);
  const span = Math.max(...scores) - least;
  return scores.map((score) => (span === 0 ? 0 : Math.floor((100 * (score - least)) / span)));
}
