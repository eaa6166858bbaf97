import { parseArgs } from 'node:util';
import { documentName, judge, readKnownDifferences, writeKnownDifferences } from './known-differences.js';
import { runOnOwnPlanes } from './own-planes.js';
import { runTranscripts, type TranscriptResult } from './run.js';
import { readTranscripts, stepTitle } from './transcript.js';

const usage = `npm run golden [-- OPTIONS]: replays recorded conversations with a real API server, and says what differs
  --only REGEX       transcripts whose file's name matches
  --diff N           differences shown of a step; 3 by default
  --kubeconfig FILE  a server's administrator; by default servers of its own are started
  --have kcm         with --kubeconfig: run the transcripts that need controllers, not those that want none
  --write            run all on own servers and write the list in ${documentName} anew`;

/** `npm run golden`. Resolves with the exit status. */
async function golden(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '.' },
      diff: { type: 'string', default: '3' },
      kubeconfig: { type: 'string' },
      have: { type: 'string', default: '' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const isWhole = values.only === '.' && values.kubeconfig === undefined;
  if (values.write && !isWhole)
    throw new Error('--write needs a run of all transcripts: leave out --only and --kubeconfig');
  const transcripts = readTranscripts(new RegExp(values.only));
  const known = readKnownDifferences();
  const isExpected = (result: TranscriptResult) => judge([result], known).length === 0;
  const onResult = (result: TranscriptResult) => report(result, Number(values.diff));
  const options = { isExpected, onResult };
  if (values.kubeconfig !== undefined) {
    const suited = transcripts.filter(({ needs }) => needs.join() === values.have);
    const { differing } = summary(await runTranscripts(values.kubeconfig, suited, options));
    return differing === 0 ? 0 : 1;
  }
  const results = await runOnOwnPlanes(transcripts, options);
  if (values.write) writeKnownDifferences(results);
  const wrong = judge(results, readKnownDifferences());
  for (const line of wrong) console.log(`${documentName}: ${line}`);
  if (wrong.length > 0) console.log('Next: npm run golden -- --write');
  summary(results);
  return wrong.length === 0 ? 0 : 1;
}

function report({ name, steps }: TranscriptResult, shown: number): void {
  const differing = steps.filter(({ differences }) => differences.length > 0);
  if (differing.length === 0) return;
  console.log(`${name}: ${differing.length} of ${steps.length} steps differ`);
  for (const { index, step, differences } of differing) {
    console.log(`  step ${index} ${stepTitle(step)}`);
    for (const line of differences.slice(0, shown)) console.log(`      ${line}`);
  }
}

function summary(results: readonly TranscriptResult[]): { readonly differing: number } {
  const steps = results.flatMap((result) => result.steps);
  const differing = steps.filter(({ differences }) => differences.length > 0).length;
  const whole = results.filter((result) => result.steps.every(({ differences }) => differences.length === 0)).length;
  console.log(`${whole} of ${results.length} transcripts agree in every step`);
  console.log(`${steps.length - differing} passed, ${differing} failed`);
  return { differing };
}

process.exitCode = await golden(process.argv.slice(2)).catch((error: Error) => {
  console.error(`${error.message}\n${usage}`);
  return 2;
});
