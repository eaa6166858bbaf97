// npm run check: what can be checked without running anything. One line per check; all of them run even when one fails.
//   npm run check              all of them
//   npm run check -- docs      the checks whose name contains one of the words
// A check is { name, run } where run returns { problems, warnings?, note? }; `problems` and `warnings` are lines.
import { bundle } from './checks/bundle.mjs';
import { cycles } from './checks/cycles.mjs';
import { deadCode } from './checks/dead-code.mjs';
import { dependencies } from './checks/dependencies.mjs';
import { documents } from './checks/documents.mjs';
import { invariants } from './checks/invariants.mjs';
import { layers } from './checks/layers.mjs';
import { lint } from './checks/lint.mjs';
import { sources } from './checks/sources.mjs';
import { types } from './checks/types.mjs';
import { setup } from './setup.mjs';

const words = process.argv.slice(2);
const isAsked = ({ name }) => words.length === 0 || words.some((word) => name.includes(word));

await setup({ packages: [] });

let failed = 0;
let passed = 0;
const startedMs = performance.now();
// Types come first: cycles and the documents of the command line are checked on what they compile.
for (const stage of [
  [types],
  [bundle],
  [layers, lint, cycles, deadCode, dependencies, documents, invariants, sources],
]) {
  await Promise.all(stage.filter(isAsked).map(report));
}
console.log(`checks took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

async function report({ name, run }) {
  const checkStartedMs = performance.now();
  const { problems, warnings = [], note = '' } = await run().catch((error) => ({ problems: [error.message] }));
  const seconds = ((performance.now() - checkStartedMs) / 1000).toFixed(1);
  if (problems.length === 0) passed += 1;
  else failed += 1;
  console.log(`${problems.length === 0 ? '✓' : '✗'} ${name}  ${note === '' ? '' : `${note}  `}${seconds} s`);
  for (const warning of warnings) console.log(`    warning: ${warning}`);
  for (const problem of problems) console.log(`    ${problem.replaceAll('\n', '\n    ')}`);
}
