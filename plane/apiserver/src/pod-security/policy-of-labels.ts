import { type FieldError, fieldError } from '@castellan/machinery';

export type Level = 'privileged' | 'baseline' | 'restricted';

/** `minor`: of version 1.MINOR of the standards; undefined for the latest. */
export interface LevelVersion {
  readonly level: Level;
  readonly minor: number | undefined;
}

/** What a namespace asks of its pods, for each of the three modes. */
export interface PodSecurityPolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
  /** What is wrong with the labels. A policy is there nevertheless: the strictest for `enforce`, none for the others. */
  readonly errors: readonly FieldError[];
}

const prefix = 'pod-security.kubernetes.io/';
const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const versionPattern = /^v1\.(0|[1-9][0-9]*)$/;

/** The labels `pod-security.kubernetes.io/MODE` and `…/MODE-version` of a namespace. */
export function policyOfLabels(labels: Readonly<Record<string, string>> = {}): PodSecurityPolicy {
  const errors: FieldError[] = [];
  const invalid = (label: string, value: string, rule: string) =>
    errors.push(fieldError.invalid(`metadata.labels[${label}]`, value, rule));
  const mode = (name: 'enforce' | 'audit' | 'warn'): LevelVersion => {
    const label = `${prefix}${name}`;
    const told = labels[label];
    let level: Level = 'privileged';
    if (told !== undefined) {
      const known = levels.find((each) => each === told);
      if (known === undefined) invalid(label, told, `must be one of ${levels.join(', ')}`);
      level = known ?? (name === 'enforce' ? 'restricted' : 'privileged');
    }
    const version = labels[`${label}-version`] ?? 'latest';
    const minor = versionPattern.exec(version)?.[1];
    if (version !== 'latest' && minor === undefined) {
      invalid(`${label}-version`, version, 'must be "latest" or "v1.x"');
    }
    return { level, minor: minor === undefined ? undefined : Number(minor) };
  };
  return { enforce: mode('enforce'), audit: mode('audit'), warn: mode('warn'), errors };
}

/** As in `baseline:v1.28`. */
export function formatLevel({ level, minor }: LevelVersion): string {
  return `${level}:${minor === undefined ? 'latest' : `v1.${minor}`}`;
}

export function isStricter(one: Level, other: Level): boolean {
  return levels.indexOf(one) > levels.indexOf(other);
}
