// How long a pod's processes take to start: the node agent's own part, without an API server's; and the same by hand with
// one `ip` process per step, the peer in the same run. Needs root.
//   node bench/node.mjs [rounds]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeEverything } from '../plane/node/dist/src/index.js';
import { ContainerProcess } from '../plane/node/dist/src/sandbox/container-process.js';
import { ensurePlaneNetwork } from '../plane/node/dist/src/sandbox/plane-network.js';
import { createPodNetwork, podNetworkAt, removePodNetwork } from '../plane/node/dist/src/sandbox/pod-network.js';

if (process.getuid?.() !== 0) {
  console.log('node: skipped, needs root');
  process.exit(0);
}
const rounds = Number(process.argv[2] ?? 40);
const dataDirectory = mkdtempSync(join(tmpdir(), 'castellan-bench-node-'));
try {
  const plane = await ensurePlaneNetwork({ dataDirectory, podCidr: '10.244.96.0/24' });
  const network = [];
  const container = [];
  const removal = [];
  const byHand = [];
  for (let round = 0; round < rounds; round += 1) {
    const pod = podNetworkAt(plane, 2 + round);
    network.push(await time(() => createPodNetwork(plane, pod)));
    container.push(await time(() => startSleeper(pod, join(dataDirectory, 'pods', String(round)))));
    removal.push(await time(() => removePodNetwork(pod, plane.bridge)));
    byHand.push(await time(() => networkByHand(plane, podNetworkAt(plane, 2 + round))));
    await removePodNetwork(pod, plane.bridge);
  }
  const total = network.map((ms, index) => ms + container[index]);
  console.log(`${rounds} pods, one after the other; median and 95th percentile in ms`);
  console.log(`network: namespace, veth, address (2 ip processes)   ${show(network)}`);
  console.log(`container: layer, bubblewrap, program is up           ${show(container)}`);
  console.log(`pod start, both                                       ${show(total)}   to reach: 60`);
  console.log(`removal: kill, namespace, device                      ${show(removal)}`);
  const ratio = median(byHand) / median(network);
  console.log(`network by hand, one ip process a step                ${show(byHand)}   ${ratio.toFixed(1)} × ours`);
} finally {
  await removeEverything(dataDirectory, { volumes: true });
  rmSync(dataDirectory, { recursive: true, force: true });
}

async function startSleeper(pod, directory) {
  await ContainerProcess.start({
    directory,
    networkNamespace: pod.namespace,
    hostname: 'sleeper',
    command: ['/usr/bin/sleep', 'infinity'],
    environment: { PATH: '/usr/bin' },
    workingDirectory: '/',
    root: { files: [], mounts: [], isReadOnly: false },
    cgroups: [],
  });
}

function networkByHand(plane, pod) {
  const device = `${plane.bridge}v${pod.index}`;
  const inside = ['-netns', pod.namespace];
  for (const args of [
    ['netns', 'add', pod.namespace],
    ['link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pod.namespace],
    ['link', 'set', device, 'master', plane.bridge, 'up'],
    [...inside, 'link', 'set', 'lo', 'up'],
    [...inside, 'address', 'add', `${pod.address}/24`, 'dev', 'eth0'],
    [...inside, 'link', 'set', 'eth0', 'up'],
    [...inside, 'route', 'add', 'default', 'via', plane.gateway],
  ]) {
    execFileSync('ip', args);
  }
}

async function time(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values) {
  return at(values, 0.5);
}

function show(values) {
  return `${at(values, 0.5).toFixed(1).padStart(6)} ${at(values, 0.95).toFixed(1).padStart(6)}`;
}

function at(values, quantile) {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * quantile)];
}
