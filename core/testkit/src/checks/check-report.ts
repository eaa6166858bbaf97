import type { CheckName, CheckPoint } from './operator-scenario.js';

export interface PointResult extends CheckPoint {
  /** What was wrong, and how to repeat it; absent where it went well. */
  readonly failure?: string;
}

interface CheckedPoints {
  readonly check: CheckName;
  /** Of which `results` are those that were tried. */
  readonly points: number;
  readonly results: readonly PointResult[];
}

/** How many points of each check there are, how many were tried, and which failed. */
export class CheckReport {
  readonly scenario: string;
  readonly checks: CheckedPoints[] = [];

  constructor(scenario: string) {
    this.scenario = scenario;
  }

  add(check: CheckName, points: number, results: readonly PointResult[]): void {
    this.checks.push({ check, points, results });
  }

  get tried(): number {
    return this.checks.reduce((sum, { results }) => sum + results.length, 0);
  }

  get failures(): readonly PointResult[] {
    return this.checks.flatMap(({ results }) => results.filter(({ failure }) => failure !== undefined));
  }

  /** The checks that found something. */
  get failedChecks(): readonly CheckName[] {
    return this.checks
      .filter(({ results }) => results.some(({ failure }) => failure !== undefined))
      .map(({ check }) => check);
  }

  /** A line for each check, and what failed below it. */
  toString(): string {
    const lines = this.checks.flatMap(({ check, points, results }) => {
      const failed = results.filter(({ failure }) => failure !== undefined);
      const counts = [points, results.length, failed.length].map((count) => String(count).padStart(7)).join('');
      return [
        `${check.padEnd(22)}${counts}`,
        ...failed.map(({ point, failure = '' }) => `  ${point}: ${failure.replaceAll('\n', '\n    ')}`),
      ];
    });
    return [`${this.scenario.padEnd(22)} points  tried failed`, ...lines, ''].join('\n');
  }
}
