// npm test: makes the clone ready, then runs every test.
//   npm test                     all of them
//   npm test -- core/runtime     the files whose path contains one of the words
// Tests of packages run two files at a time; those in tests/ start real processes, share the machine and run one by one.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run as runTests } from 'node:test';
import { inspect } from 'node:util';
import { builtFileOf, fail, filesOf, packageFolders, packageOf, root } from './repository.mjs';
import { setup } from './setup.mjs';

const fileDeadlineMs = 300_000;
const totalDeadlineMs = 1_500_000;
const shownOutputLines = 80;

const patterns = process.argv.slice(2);
const sources = packageFolders
  .flatMap(filesOf)
  .filter(
    (path) => path.endsWith('.test.ts') && (patterns.length === 0 || patterns.some((word) => path.includes(word))),
  );
if (sources.length === 0) {
  fail(`No test file's path contains ${patterns.join(' or ')}.\nNext: npm test -- core/runtime, for example.`);
}
// Some packages' own tests need those packages only; the others run the program as a person does.
const packages = [...new Set(sources.map(packageOf))];
const areUnits = patterns.length > 0 && packages.every((folder) => /^(core|plane|operators)\//.test(folder));
await setup(areUnits ? { packages } : {});

const unbuilt = sources.filter((source) => !existsSync(join(root, builtFileOf(source))));
if (unbuilt.length > 0) fail(`${unbuilt.join(', ')}: not compiled.\nNext: npm run build`);

const totals = { passed: 0, failed: 0, skipped: 0 };
const startedMs = performance.now();
const deadline = AbortSignal.timeout(totalDeadlineMs);
deadline.addEventListener('abort', () => {
  console.error(`The tests took longer than ${totalDeadlineMs / 60_000} minutes in all and were stopped.`);
  console.error('Next: run the slow file alone: npm test -- PART-OF-ITS-PATH');
  finish(1);
});

await runFiles(
  sources.filter((source) => !source.startsWith('tests/')),
  2,
);
await runFiles(
  sources.filter((source) => source.startsWith('tests/')),
  1,
);
finish(0);

async function runFiles(files, concurrency) {
  if (files.length === 0) return;
  const reports = new Map();
  const report = (file) => {
    const name = relative(root, file);
    if (!reports.has(name))
      reports.set(name, { passed: 0, failed: 0, skipped: 0, output: '', startedMs: performance.now() });
    return reports.get(name);
  };
  const events = runTests({
    files: files.map((source) => join(root, builtFileOf(source))),
    concurrency,
    timeout: fileDeadlineMs,
    signal: deadline,
  });
  for await (const { type, data } of events) {
    if (data?.file === undefined) continue;
    const isWholeFile = data.name === data.file;
    const entry = report(data.file);
    if (type === 'test:stdout' || type === 'test:stderr') entry.output += data.message;
    else if (type === 'test:complete' && isWholeFile) endFile(relative(root, data.file), entry, data);
    else if (isWholeFile || data.details?.type === 'suite') continue;
    else if (type === 'test:pass') entry[isSkipped(data) ? 'skipped' : 'passed'] += 1;
    else if (type === 'test:fail') failTest(entry, data.name, data.details.error);
  }
}

function isSkipped(data) {
  return data.skip !== undefined || data.todo !== undefined;
}

function failTest(entry, name, error) {
  if (error.failureType === 'subtestsFailed') return;
  entry.failed += 1;
  entry.output += `✗ ${name}\n${inspect(error.cause ?? error)}\n`;
}

/** A file that ends badly although none of its tests failed: it does not load, hangs, or fails after its last test. */
function endFile(name, entry, data) {
  if (!data.details.passed && entry.failed === 0) failTest(entry, name, data.details.error);
  const seconds = ((data.details.duration_ms ?? performance.now() - entry.startedMs) / 1000).toFixed(1);
  const counts = `${entry.passed} passed${entry.failed > 0 ? `, ${entry.failed} FAILED` : ''}${entry.skipped > 0 ? `, ${entry.skipped} skipped` : ''}`;
  console.log(
    `${entry.failed > 0 ? '✗' : '✓'} ${name.replace('/dist/', '/').replace(/\.js$/, '')}  ${counts}  ${seconds} s`,
  );
  if (entry.failed > 0) console.log(indent(entry.output.trimEnd().split('\n').slice(-shownOutputLines)));
  for (const key of Object.keys(totals)) totals[key] += entry[key];
}

function indent(lines) {
  return lines.map((line) => `    ${line}`).join('\n');
}

function finish(extraFailures) {
  totals.failed += extraFailures;
  console.log(`tests took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
  console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
  process.exit(totals.failed > 0 ? 1 : 0);
}
