// From a Deployment to running processes: how long until all of its pods are available, by the status that clients read, and
// what a plane with many idle pods takes. Peer in the same run: what the machine needs for as many processes without pods.
// Needs root.
//   node bench/workloads.mjs [--runs N] [--pods 100] [--idle 200]
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { connect, loadKubeconfig } from '@castellan/client';
import { deployments, pods } from '@castellan/machinery';
import { realWorld, waitFor } from '@castellan/world';

if (process.getuid?.() !== 0) {
  console.log('workloads: skipped, needs root');
  process.exit(0);
}
const program = resolve(import.meta.dirname, '../bin/castellan');
const options = { runs: '5', pods: '100', idle: '200' };
const { values } = parseArgs({
  options: Object.fromEntries(
    Object.entries(options).map(([name, standard]) => [name, { type: 'string', default: standard }]),
  ),
});
const [runs, many, idle] = [values.runs, values.pods, values.idle].map(Number);
const restMs = 20_000;
const idleMs = 20_000;
const world = realWorld();
const directory = mkdtempSync(join(tmpdir(), 'castellan-bench-'));
castellan('up', '--detach', '--data-dir', directory, '--port', '0', '--operators', 'none', '--nodes', '3');
const client = connect(await loadKubeconfig(join(directory, 'kubeconfig')), { world });
try {
  await nginx();
  const sleepers = { image: 'busybox', command: ['/bin/sleep', 'infinity'] };
  const startedMs = await created(deployment('sleepers', many, sleepers));
  const floorMs = await processes(many);
  console.log(
    `Deployment of ${many} sleepers, created to available  ${seconds(startedMs)} (to reach: 15 s), ` +
      `${(startedMs / floorMs).toFixed(1)} × as many processes without pods`,
  );
  await scaled('sleepers', idle);
  // Events of the start are still being written.
  await new Promise((done) => setTimeout(done, restMs));
  const { pid } = JSON.parse(readFileSync(join(directory, 'castellan.pid'), 'utf8'));
  const before = processorMs(pid);
  await new Promise((done) => setTimeout(done, idleMs));
  const share = (100 * (processorMs(pid) - before)) / idleMs;
  console.log(`plane with ${idle} idle pods, resident memory  ${residentMb(pid).toFixed(0)} MB (to reach: 250)`);
  console.log(`plane with ${idle} idle pods, of one core  ${share.toFixed(1)} % (to reach: 5)`);
} finally {
  await client.close();
  castellan('down', '--data-dir', directory);
  rmSync(directory, { recursive: true, force: true });
}

/** The seed's Deployment, with three replicas. */
async function nginx() {
  if (!existsSync('/usr/sbin/nginx')) {
    console.log('nginx is not on this machine (Debian: apt-get install nginx-light)');
    return;
  }
  const times = [];
  for (let run = 0; run < runs; run += 1) {
    times.push(await created(deployment(`nginx-${run}`, 3, { image: 'nginx', ports: [{ containerPort: 80 }] })));
    await deleted(`nginx-${run}`);
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? Number.NaN;
  console.log(`nginx with 3 replicas, created to available  ${seconds(median)} (median of ${runs}; to reach: 1.5 s)`);
}

function deployment(name, replicas, container) {
  const labels = { app: name };
  const spec = { containers: [{ name: 'main', ...container }], terminationGracePeriodSeconds: 0 };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

async function created(object) {
  const startedMs = performance.now();
  await client.create(deployments, object);
  await available(object.metadata.name, object.spec.replicas);
  return performance.now() - startedMs;
}

async function scaled(name, replicas) {
  await client.patch(deployments, { namespace: 'default', name }, { type: 'merge', body: { spec: { replicas } } });
  await available(name, replicas);
}

/** Watched, for asking again and again would take the plane's time. */
async function available(name, replicas) {
  const key = { namespace: 'default', name };
  const signal = AbortSignal.timeout(300_000);
  const found = await client.get(deployments, key);
  const isSo = ({ status }) => (status?.availableReplicas ?? 0) === replicas && status?.updatedReplicas === replicas;
  if (isSo(found)) return;
  const { resourceVersion } = found.metadata;
  const fieldSelector = `metadata.name=${name}`;
  for await (const { object } of client.watch(deployments, { ...key, fieldSelector, resourceVersion, signal })) {
    if (isSo(object)) return;
  }
  throw new Error(`the watch of ${name} ended before ${replicas} replicas were available`);
}

async function deleted(name) {
  const key = { namespace: 'default', name };
  await client.delete(deployments, key);
  const areGone = async () =>
    (await client.list(pods, { namespace: 'default', labelSelector: `app=${name}` })).items.length === 0;
  await waitFor(world, areGone, { what: `the pods of ${name} to be gone`, deadlineMs: 60_000, everyMs: 50 });
}

/** How long it takes to start as many sleepers one after the other, by hand. */
async function processes(count) {
  const startedMs = performance.now();
  const children = [];
  for (let each = 0; each < count; each += 1) {
    const child = spawn('/bin/sleep', ['infinity'], { stdio: 'ignore' });
    children.push(child);
    await new Promise((started) => child.once('spawn', started));
  }
  const ms = performance.now() - startedMs;
  for (const child of children) child.kill('SIGKILL');
  return ms;
}

function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function castellan(...args) {
  return execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}
