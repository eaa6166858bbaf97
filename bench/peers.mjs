// From nothing to an API server that answers, and on to a pod that is ready: ours, and others that are named.
//
//     node bench/peers.mjs [--runs N] [--image IMAGE] [--peer 'START' --stop 'STOP' --kubeconfig FILE]...
//
// START is a shell command that ends when the API server answers, STOP one that removes all of it, FILE the kubeconfig that it
// wrote. With Docker and kind, for instance:
//
//     node bench/peers.mjs --peer 'kind create cluster --kubeconfig /tmp/kind' --stop 'kind delete cluster' --kubeconfig /tmp/kind
//
// What envtest starts (etcd with --unsafe-no-fsync, then kube-apiserver) has no nodes: give no FILE, and no pod is asked for.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { connect, loadKubeconfig } from '@castellan/client';
import { isConditionTrue, isStatusError, pods } from '@castellan/machinery';
import { realWorld, waitFor } from '@castellan/world';

const text = { type: 'string' };
const { values: options } = parseArgs({
  options: {
    runs: { ...text, default: '5' },
    image: { ...text, default: 'busybox' },
    peer: { ...text, multiple: true, default: [] },
    stop: { ...text, multiple: true, default: [] },
    kubeconfig: { ...text, multiple: true, default: [] },
  },
});
const runs = Number(options.runs);
const world = realWorld();
const program = resolve(import.meta.dirname, '../bin/castellan');
const directory = mkdtempSync(join(tmpdir(), 'castellan-peers-'));
const castellan = `'${process.execPath}' '${program}'`;

const ours = await measure({
  start: `${castellan} up --detach --port 0 --data-dir '${directory}'`,
  stop: `${castellan} down --data-dir '${directory}' && rm -rf '${directory}'`,
  kubeconfig: join(directory, 'kubeconfig'),
});
rmSync(directory, { recursive: true, force: true });
console.log(`${''.padEnd(34)} API server answers   a pod is ready   (medians of ${runs})`);
show('castellan up --detach', ours);
for (const [at, start] of options.peer.entries()) {
  show(start, await measure({ start, stop: options.stop[at], kubeconfig: options.kubeconfig[at] }), ours);
}

async function measure({ start, stop, kubeconfig }) {
  const answers = [];
  const ready = [];
  for (let run = 0; run < runs; run += 1) {
    const begunMs = performance.now();
    try {
      shell(start);
      answers.push(performance.now() - begunMs);
      if (kubeconfig !== undefined) {
        await firstPod(kubeconfig);
        ready.push(performance.now() - begunMs);
      }
    } finally {
      if (stop !== undefined) shell(stop);
    }
  }
  return { answers: median(answers), ready: median(ready) };
}

/** A pod made as soon as its namespace takes any, as a script would with retries. */
async function firstPod(kubeconfig) {
  const client = connect(await loadKubeconfig(kubeconfig), { world });
  const key = { namespace: 'default', name: 'first' };
  const spec = { containers: [{ name: 'main', image: options.image, command: ['sleep', '3600'] }] };
  const created = () =>
    client.create(pods, { metadata: key, spec }).catch((error) => {
      if (!isStatusError(error, 'Forbidden', 'InternalError', 'ServiceUnavailable')) throw error;
    });
  await waitFor(world, created, { what: () => 'the namespace default to take a pod', deadlineMs: 300_000 });
  const isReady = async () => {
    const { status } = await client.get(pods, key);
    return isConditionTrue(status?.conditions, 'Ready') ? true : undefined;
  };
  await waitFor(world, isReady, { what: () => 'the pod to be ready', deadlineMs: 300_000 });
  await client.close();
}

function shell(command) {
  execFileSync('/bin/sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function show(name, { answers, ready }, than) {
  console.log(`${name.slice(0, 34).padEnd(34)} ${cell(answers, than?.answers)} ${cell(ready, than?.ready)}`);
}

function cell(ms, than) {
  if (ms === undefined) return '–'.padStart(18);
  return `${(ms / 1000).toFixed(2)} s${than === undefined ? '' : ` (${(ms / than).toFixed(1)} ×)`}`.padStart(18);
}
