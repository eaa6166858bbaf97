/** The numbers of a release. Suffixes (`-rc.1`, `-glibc`) are not looked at. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** From the start of a text, with or without `v`: `v3.5.0`, `3.4`, `1.28.0-glibc`. */
export function parseVersion(text: string): Version | undefined {
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2] ?? 0), patch: Number(match[3] ?? 0) };
}

export function formatVersion({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}

/**
 * The version to run where `wanted` is not to be had: of the same major version; the nearest minor version, rather a
 * newer than an older one, for a newer program reads an older one's data; and of that the newest patch.
 */
export function nearestVersion(wanted: Version, available: readonly Version[]): Version | undefined {
  const rank = (version: Version): readonly number[] => {
    const isExact = version.minor === wanted.minor && version.patch === wanted.patch;
    const distance = version.minor - wanted.minor;
    return [isExact ? 0 : 1, distance < 0 ? 1 : 0, Math.abs(distance), -version.patch];
  };
  return available.filter(({ major }) => major === wanted.major).sort((a, b) => compareRanks(rank(a), rank(b)))[0];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, position) => value !== b[position]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
