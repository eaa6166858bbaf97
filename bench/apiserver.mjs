// The figures of an API server, asked by a process of its own over HTTPS, beside those of kube-apiserver 1.36.2 with etcd
// 3.5.30, which were measured once on a quiet machine with 2 cores: figures from elsewhere, so compare the CPU of each
// operation first. The server is ours, on a new data directory in the present directory, or that of a kubeconfig.
//
//     node bench/apiserver.mjs [--quick]                             after `npm run build`
//     node bench/apiserver.mjs --kubeconfig FILE --pids 12,34        another server; the processes that belong to it
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readKubeconfig } from './apiserver/connection.mjs';
import { Bench } from './apiserver/figures.mjs';
import { Floor } from './apiserver/floor.mjs';
import { cpuMs, residentMb } from './apiserver/process-cost.mjs';

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, kubeconfig: { type: 'string' }, pids: { type: 'string' } },
});
const program = resolve(import.meta.dirname, '../bin/castellan');
const isQuick = options.quick === true;
const own = options.kubeconfig === undefined ? startOwn() : undefined;
const pids = own?.pids ?? (options.pids ?? '').split(',').filter(Boolean).map(Number);
try {
  await measure(
    new Bench(await readKubeconfig(own?.kubeconfig ?? options.kubeconfig), { pids, seconds: isQuick ? 1 : 4 }),
  );
} finally {
  own?.stop();
}
if (own !== undefined) {
  await measureMemory();
  await measureAllComponents();
}

async function measure(bench) {
  row('figure', 'measured', 'peer', 'reach');
  if (own !== undefined) {
    row('start → /readyz', `${own.startMs.toFixed(0)} ms`, '4,200 ms', '≤ 600 ms');
    await sleep(2000);
    row('idle memory', `${residentMb(pids).toFixed(0)} MB`, '315 MB', '≤ 120 MB');
  }
  row('idle CPU', await idleCpu(pids, 20), '6.2 %', '≤ 1.5 %');

  const first = await bench.definitionToObject('warm');
  const { ms, create } = await bench.definitionToObject('widget');
  row('CRD → first object', `${ms.toFixed(1)} ms (the first: ${first.ms.toFixed(1)})`, '2,050 ms', '≤ 50 ms');
  await bench.creates(8);
  throughput('ConfigMap create, 1 in flight', await bench.creates(1), 233, undefined, 500);
  throughput('ConfigMap create, 32 in flight', await bench.creates(32), 691, 2.5, 1400);
  const custom = await bench.rate(32, (index) => create(`w-${index}`));
  throughput('custom resource create, 32', custom, 465, 4, 1000);

  const { gets, fromCache, latest } = await bench.reads();
  throughput('GET one of 10,000, 32 in flight', gets, 1275, 1.3, 3000);
  list('LIST 10,000 × 1 KB, rv=0', fromCache);
  list('LIST 10,000 × 1 KB, rv=""', latest);

  const writes = isQuick ? 100 : 500;
  const floor = own === undefined ? undefined : await Floor.start(own.directory, bench.kubeconfig);
  const one = await bench.watchLatency(1, writes, floor);
  floor?.stop();
  latency('create → event, 1 watcher', one, [5.0, 8.8], [2, 4]);
  if (floor !== undefined) {
    row('  a bare HTTP/2 server instead, as often', halfAndMost(one.floor));
    row('  of that, write and fsync of 1 KB', halfAndMost(one.disk));
  }
  latency('create → event, 100 watchers', await bench.watchLatency(100, writes), [8.8, 20.4], [5, 10]);

  const total = isQuick ? 10_000 : 100_000;
  const costs = await bench.costWhileGrowing(total, 10);
  row(`CPU of a create, 0 to ${total}`, costs.map((cost) => cost.toFixed(2)).join(' '), '', 'flat');
  bench.close();
}

/** On a server of its own, that does nothing else. */
async function measureMemory() {
  const server = startOwn();
  try {
    const bench = new Bench(await readKubeconfig(server.kubeconfig), { pids: server.pids, seconds: 1 });
    const namespace = await bench.namespace('memory');
    await bench.rate(32, (index) => bench.create(namespace, `m-${index}`), { times: isQuick ? 6_500 : 65_000 });
    const get = () => bench.connection.send('GET', `/api/v1/namespaces/${namespace}/configmaps/m-7`);
    await bench.rate(32, get, { times: isQuick ? 5_000 : 50_000 });
    const memory = `${residentMb(server.pids).toFixed(0)} MB`;
    row(
      `memory after ${isQuick ? '6,500 writes, 5,000 GETs' : '65,000 writes, 50,000 GETs'}`,
      memory,
      '2,000 MB',
      '≤ 350 MB',
    );
    bench.close();
  } finally {
    server.stop();
  }
}

/** As `castellan up` starts it: controllers, scheduler, node agent and operators in the API server's process. */
async function measureAllComponents() {
  const server = startOwn([]);
  try {
    await sleep(10_000);
    row('idle CPU, all components', await idleCpu(server.pids, 60), '6.2 %', '≤ 1.5 %');
    row('idle memory, all components', `${residentMb(server.pids).toFixed(0)} MB`, '508 MB', '≤ 150 MB');
  } finally {
    server.stop();
  }
}

async function idleCpu(processes, seconds) {
  const idleMs = (isQuick ? 3 : seconds) * 1000;
  const cpuBefore = cpuMs(processes);
  await sleep(idleMs);
  return `${(((cpuMs(processes) - cpuBefore) / idleMs) * 100).toFixed(2)} % of a core`;
}

/** @param without the parts that are left out: by default all but the API server. */
function startOwn(without = ['--no-controllers', '--operators', 'none', '--no-node']) {
  const directory = mkdtempSync(join(process.cwd(), '.bench-apiserver-'));
  const castellan = (...args) => execFileSync(program, [...args, '--data-dir', directory], { encoding: 'utf8' });
  const begunMs = performance.now();
  castellan('up', '--detach', ...without, '--port', '0');
  const startMs = performance.now() - begunMs;
  const { pid } = JSON.parse(readFileSync(join(directory, 'castellan.pid'), 'utf8'));
  const stop = () => {
    castellan('down');
    rmSync(directory, { recursive: true });
  };
  return { directory, startMs, pids: [pid], kubeconfig: join(directory, 'kubeconfig'), stop };
}

function throughput(name, { perSecond, cpuMsEach }, peer, peerCpuMs, reach) {
  const ratio = (perSecond / peer).toFixed(1);
  const cpu = `${cpuMsEach.toFixed(2)} ms CPU each`;
  row(
    name,
    `${perSecond.toFixed(0)}/s (${ratio} ×), ${cpu}`,
    `${peer}/s${peerCpuMs ? `, ${peerCpuMs} ms CPU` : ''}`,
    `≥ ${reach}/s`,
  );
}

function list(name, { totalMs, firstMs, coldMs, cpuMsEach, bytes }) {
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  const cell = `${totalMs.toFixed(0)} ms (${(166 / totalMs).toFixed(1)} ×), first byte ${firstMs.toFixed(1)} ms, ${cpuMsEach.toFixed(0)} ms CPU; cold ${coldMs.toFixed(0)} ms; ${size}`;
  row(name, cell, '166 ms, 12 ms', '≤ 60 ms, ≤ 5 ms');
}

function latency(name, measured, peer, reach) {
  const pair = ([half, most]) => `${half} / ${most} ms`;
  row(name, halfAndMost(measured), pair(peer), `≤ ${pair(reach)}`);
}

function halfAndMost({ p50, p99 }) {
  return `p50 / p99 ${p50.toFixed(1)} / ${p99.toFixed(1)} ms`;
}

function row(name, ...cells) {
  console.log([name.padEnd(44), ...cells].join('  |  '));
}
