// npm test: makes the clone ready, then runs every test.
//   npm test                     all of them
//   npm test -- core/runtime     the files whose path contains one of the words
// Two files run at a time. The stories in tests/ come first: they take longest, and mostly wait for real processes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run as runTests } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { ensureNewerEtcd } from './newer-etcd.mjs';
import { builtFileOf, fail, filesOf, packageFolders, packageOf, root } from './repository.mjs';
import { ensureTestPrograms, setup } from './setup.mjs';

const fileDeadlineMs = 180_000;
const totalDeadlineMs = 1_500_000;
const filesAtOnce = 2;
const shownOutputLines = 80;
/** What node:test adds at the end of a file; everything else that is noted was said by a test. */
const runnerTotals = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

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
if (packages.includes('plane/keyspace')) await ensureNewerEtcd();
if (packages.includes('tests')) await ensureTestPrograms();

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

// node:test starts the process of a file with the options of this one.
process.execArgv.push('--import', pathToFileURL(join(import.meta.dirname, 'name-what-lingers.mjs')).href);
const queue = sources.toSorted((one, other) => slowness(other) - slowness(one));
await Promise.all(Array.from({ length: filesAtOnce }, () => runOneByOne(queue)));
finish(0);

/** By where a file is: stories of the whole, then of a package, then its units. What ends last should be short. */
function slowness(source) {
  if (source.startsWith('tests/')) return 2;
  return source.includes('/test/') ? 1 : 0;
}

/** Takes files off the queue until it is empty; several of these share one queue. */
async function runOneByOne(queue) {
  for (let source = queue.shift(); source !== undefined; source = queue.shift()) await runFile(source);
}

async function runFile(source) {
  const report = { passed: 0, failed: 0, skipped: 0, notes: [], output: '' };
  const fileStartedMs = performance.now();
  const file = join(root, builtFileOf(source));
  const running = new Set();
  for await (const { type, data } of runTests({ files: [file], timeout: fileDeadlineMs, signal: deadline })) {
    if (type === 'test:stdout' || type === 'test:stderr') report.output += data.message;
    if (type === 'test:dequeue') running.add(data.name);
    if (type === 'test:complete') running.delete(data.name);
    if (type === 'test:diagnostic' && !runnerTotals.test(data.message)) report.notes.push(data.message);
    if (type !== 'test:complete' || data.details.type === 'suite') continue;
    if (isSkipped(data)) skipTest(report, data);
    else if (!data.details.passed) failTest(report, data, running);
    else if (data.name !== file) report.passed += 1;
  }
  printFile(source, report, performance.now() - fileStartedMs);
  for (const key of Object.keys(totals)) totals[key] += report[key];
}

function isSkipped(data) {
  return data.skip !== undefined || data.todo !== undefined;
}

function skipTest(report, { name, skip, todo }) {
  report.skipped += 1;
  report.notes.push(`skipped "${name}": ${skip ?? todo}`);
}

/** The file itself is reported as a test too: it fails alone when it does not load, hangs, or fails after its last test. */
function failTest(report, { name, details: { error } }, running) {
  if (error.failureType === 'subtestsFailed') return;
  report.failed += 1;
  report.output += `✗ ${name.replace(`${root}/`, '')}\n${inspect(error.cause ?? error)}\n`;
  if (error.failureType === 'testTimeoutFailure' && running.size > 0)
    report.output += `It was still at: ${[...running].join('; ')}\n`;
}

function printFile(source, { passed, failed, skipped, notes, output }, durationMs) {
  const counts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} FAILED`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  console.log(`${failed > 0 ? '✗' : '✓'} ${source}  ${counts.join(', ')}  ${(durationMs / 1000).toFixed(1)} s`);
  if (notes.length > 0) console.log(indent(notes));
  if (failed > 0) console.log(indent(output.trimEnd().split('\n').slice(-shownOutputLines)));
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
