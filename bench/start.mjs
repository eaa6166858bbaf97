// How long `castellan up --detach` takes until /readyz answers 200, with an empty data directory and with 10,000 objects,
// and what plane and operators hold in memory when idle. The peer is measured in the same run: the time that `node`
// itself needs to start and end, which is the floor of any program on Node.
//   node bench/start.mjs [--runs N]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { connect, loadKubeconfig } from '@castellan/client';
import { configMaps } from '@castellan/machinery';
import { realWorld } from '@castellan/world';

const program = resolve(import.meta.dirname, '../bin/castellan');
const { values } = parseArgs({ options: { runs: { type: 'string', default: '5' } } });
const runs = Number(values.runs);
const objects = 10_000;

const floorMs = median(Array.from({ length: runs }, () => timed(() => execFileSync(process.execPath, ['-e', '']))));
console.log(`node itself, start to end                 ${seconds(floorMs)} (median of ${runs})`);

const empty = Array.from({ length: runs }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-bench-'));
  const ms = timed(() => up(directory));
  down(directory);
  return ms;
});
report('up --detach, empty data directory', empty, 600);

const directory = mkdtempSync(join(tmpdir(), 'castellan-bench-'));
up(directory);
const idleMb = await idleMemory(directory);
await fill(directory);
castellan('down', '--data-dir', directory);
const filled = Array.from({ length: runs }, () => {
  const ms = timed(() => up(directory));
  castellan('down', '--data-dir', directory);
  return ms;
});
report(`up --detach, ${objects} objects`, filled, 1_000);
console.log(`resident memory of plane + operators, idle  ${idleMb.toFixed(0)} MB (to reach: 150)`);
rmSync(directory, { recursive: true });

function report(what, times, targetMs) {
  const ms = median(times);
  console.log(
    `${what.padEnd(41)} ${seconds(ms)} = ${(ms / floorMs).toFixed(1)} × node itself (to reach: ${seconds(targetMs)})`,
  );
}

function up(at) {
  castellan('up', '--detach', '--data-dir', at, '--port', '0');
}

function down(at) {
  castellan('down', '--data-dir', at);
  rmSync(at, { recursive: true });
}

function castellan(...args) {
  return execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });
}

async function fill(at) {
  const client = connect(await loadKubeconfig(join(at, 'kubeconfig')), { world: realWorld() });
  let next = 0;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (next < objects) {
        next += 1;
        const metadata = { namespace: 'default', name: `filled-${next}` };
        await client.create(configMaps, { metadata, data: { payload: 'x'.repeat(1_500) } });
      }
    }),
  );
  await client.close();
}

/** Resident set of the plane's process 10 s after it started, in MB. */
async function idleMemory(at) {
  await new Promise((done) => setTimeout(done, 10_000));
  const pid = Number(JSON.parse(readFileSync(join(at, 'castellan.pid'), 'utf8')).pid);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}
