// What a service address costs: requests and bytes from one pod to another, straight to its address, through the service by the
// kernel (nftables), and through the service by the plane's own process. Straight is the peer of the same run. Needs root.
//   node bench/services.mjs [seconds]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { removeEverything } from '../plane/node/dist/src/index.js';
import { ensurePlaneNetwork, nodeNetworkAt } from '../plane/node/dist/src/sandbox/plane-network.js';
import { createPodNetwork, podNetworkAt } from '../plane/node/dist/src/sandbox/pod-network.js';
import { ServiceProxy } from '../plane/node/dist/src/services/service-proxy.js';

if (process.getuid?.() !== 0) {
  console.log('services: skipped, needs root');
  process.exit(0);
}
const seconds = Number(process.argv[2] ?? 3);
const serviceCidr = '10.98.16.0/20';
const clusterIp = '10.98.16.7';

/** Two ports: one answers each byte with one, the other sends as fast as it can. */
const server = `
const { createServer } = require('node:net');
const chunk = Buffer.alloc(65536);
createServer((socket) => socket.on('error', () => {}).setNoDelay().on('data', () => socket.write('!'))).listen(8080, () => {
  createServer((socket) => {
    const more = () => { while (socket.writable && socket.write(chunk)); };
    socket.on('error', () => {}).on('drain', more);
    more();
  }).listen(8081, () => console.log('ready'));
});`;
/** Prints: connections per second, medians of a connection and of a round trip in microseconds, megabytes per second. */
const client = `
const { connect } = require('node:net');
const [address, echo, flood, seconds] = process.argv.slice(1);
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const until = async (work) => {
  const times = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) { const start = performance.now(); await work(); times.push((performance.now() - start) * 1000); }
  return times;
};
(async () => {
  const once = () => new Promise((resolve, reject) => {
    const socket = connect(+echo, address, () => socket.write('?')).setNoDelay();
    socket.once('data', () => { socket.resetAndDestroy(); resolve(); });
    socket.once('error', reject);
  });
  const connections = await until(once);
  const socket = connect(+echo, address).setNoDelay();
  const trips = await until(() => new Promise((resolve) => { socket.once('data', resolve); socket.write('?'); }));
  socket.destroy();
  let bytes = 0;
  const from = connect(+flood, address).on('data', (chunk) => { bytes += chunk.length; });
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  from.destroy();
  console.log(JSON.stringify({ connections: connections.length / seconds, connectUs: median(connections), tripUs: median(trips), megabytes: bytes / 1e6 / seconds }));
  process.exit();
})();`;

const dataDirectory = mkdtempSync(join(tmpdir(), 'castellan-bench-services-'));
const children = [];
try {
  const plane = await ensurePlaneNetwork({ dataDirectory, podCidr: '10.98.0.0/24', serviceCidr });
  const pods = [podNetworkAt(plane, 2), podNetworkAt(plane, 3)];
  for (const pod of pods) await createPodNetwork(plane, pod);
  const [serving, calling] = pods;
  const child = inPod(serving, server, []);
  children.push(child);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const straight = await measure(calling, [serving.address, 8080, 8081, seconds]);
  show('straight to the pod', straight, straight);
  for (const mode of ['user-space', 'nftables']) {
    const world = realWorld();
    const log = createLog({ write: console.error, world });
    const proxy = new ServiceProxy({ log, clock: world.clock, apiServer: { host: '127.0.0.1', port: 1 } });
    const node = { name: 'bench', ...nodeNetworkAt(plane, 0) };
    if ((await proxy.start({ ...plane, nodes: [node] }, mode)) !== mode) {
      console.log(`${mode}: not on this machine`);
      continue;
    }
    await proxy.apply(new Map([['default', { services: [service(serving)], hostPorts: [] }]]));
    show(`service by ${mode}`, await measure(calling, [clusterIp, 80, 81, seconds]), straight);
    await proxy.apply(new Map([['default', { services: [], hostPorts: [] }]]));
    await proxy.close();
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  await removeEverything(dataDirectory, { volumes: true });
  rmSync(dataDirectory, { recursive: true, force: true });
}

function service({ address }) {
  const port = (number, target) => ({
    ...{ name: String(number), protocol: 'TCP', port: number, nodePort: undefined },
    backends: [{ address, port: target, hostname: undefined, node: 'bench', isEnding: false }],
  });
  return {
    ...{ namespace: 'default', name: 'bench', clusterIp, externalName: undefined, affinityMs: undefined },
    ...{ selectsPods: true, staysOnNode: false, entersOwnNode: false, ports: [port(80, 8080), port(81, 8081)] },
  };
}

/** What the client says, and how much of a core this process took meanwhile. */
async function measure(pod, args) {
  const before = process.cpuUsage();
  const since = performance.now();
  const child = inPod(pod, client, args.map(String));
  let said = '';
  for await (const chunk of child.stdout) said += chunk;
  const { user, system } = process.cpuUsage(before);
  return { ...JSON.parse(said), cpu: (user + system) / 10 / (performance.now() - since) };
}

function inPod({ namespace }, script, args) {
  return spawn('nsenter', [`--net=/run/netns/${namespace}`, '--', process.execPath, '-e', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function show(what, { connections, connectUs, tripUs, megabytes, cpu }, straight) {
  const ratio = (connections / straight.connections).toFixed(2);
  console.log(
    `${what.padEnd(24)} ${connections.toFixed(0).padStart(6)} connections/s (${ratio} ×), ${connectUs.toFixed(0)} µs each;` +
      ` round trip ${tripUs.toFixed(0)} µs; ${megabytes.toFixed(0)} MB/s; ${cpu.toFixed(0)} % of a core in the plane`,
  );
}
