import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TranscriptResult } from './run.js';

/** A step of a transcript that differs, and why it does. */
interface KnownDifference {
  readonly transcript: string;
  readonly step: number;
  readonly reason: string;
}

export const documentName = 'docs/compatibility.md';
/** The reason of a step that nobody has judged yet. */
const unjudged = 'to be mended';

const document = fileURLToPath(new URL('../../../docs/compatibility.md', import.meta.url));
const opening = '<!-- golden: made by `npm run golden -- --write`; reasons are written by hand and kept -->';
const closing = '<!-- end of golden -->';

/** The list that the document holds: rows of transcript, steps, reason. */
export function readKnownDifferences(): readonly KnownDifference[] {
  const { list } = parts();
  return [...list.matchAll(/^\| `([^`]+)` \| ([\d, ]+) \| (.+) \|$/gm)].flatMap(
    ([, transcript = '', steps = '', reason = '']) =>
      steps.split(',').map((step) => ({ transcript, step: Number(step), reason })),
  );
}

/** What the list says that is not so, and what is so that it does not say. Only transcripts that were run are judged. */
export function judge(results: readonly TranscriptResult[], known: readonly KnownDifference[]): readonly string[] {
  return results.flatMap(({ name, steps }) => {
    const listed = new Set(known.filter(({ transcript }) => transcript === name).map(({ step }) => step));
    return steps.flatMap(({ index, differences }) => {
      if (differences.length > 0 && !listed.has(index)) return [`${name}, step ${index} differs and is not listed`];
      if (differences.length === 0 && listed.has(index)) return [`${name}, step ${index} is listed and agrees`];
      return [];
    });
  });
}

/** Writes the list anew from a run of every transcript, with the reasons that it had. */
export function writeKnownDifferences(results: readonly TranscriptResult[]): void {
  const known = readKnownDifferences();
  const rows = results.flatMap((result) => rowsOf(result, known));
  const total = results.reduce((sum, { steps }) => sum + steps.length, 0);
  const differing = results.reduce((sum, { steps }) => sum + steps.filter(isDifferent).length, 0);
  const share = ((100 * (total - differing)) / total).toFixed(1);
  const count = `Of ${total} recorded steps ${total - differing} agree (${share} %).`;
  const table = ['| transcript | steps | reason |', '|---|---|---|', ...rows].join('\n');
  const { before, after } = parts();
  writeFileSync(document, `${before}${opening}\n${count}\n\n${table}\n${closing}${after}`);
}

/** One row per reason. */
function rowsOf({ name, steps }: TranscriptResult, known: readonly KnownDifference[]): readonly string[] {
  const byReason = new Map<string, number[]>();
  for (const { index } of steps.filter(isDifferent)) {
    const entry = known.find(({ transcript, step }) => transcript === name && step === index);
    const reason = entry?.reason ?? unjudged;
    byReason.set(reason, [...(byReason.get(reason) ?? []), index]);
  }
  return [...byReason].map(([reason, indexes]) => `| \`${name}\` | ${indexes.join(', ')} | ${reason} |`);
}

function isDifferent({ differences }: TranscriptResult['steps'][number]): boolean {
  return differences.length > 0;
}

function parts(): { readonly before: string; readonly list: string; readonly after: string } {
  const text = readFileSync(document, 'utf8');
  const start = text.indexOf(opening);
  const end = text.indexOf(closing);
  if (start < 0 || end < start) throw new Error(`${documentName} has no part between "${opening}" and "${closing}"`);
  return { before: text.slice(0, start), list: text.slice(start, end), after: text.slice(end + closing.length) };
}
