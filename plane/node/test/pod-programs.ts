import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { addressAt, parseRange } from '../src/sandbox/address-range.js';
import { bridgeName, ensurePlaneNetwork, type PlaneNetwork } from '../src/sandbox/plane-network.js';
import { createPodNetwork, namespacePath, type PodNetwork, podNetworkAt } from '../src/sandbox/pod-network.js';
import { rangesOf } from './machine.js';

/** Answers each TCP connection and each datagram with `NAME CLIENT`; lines of a connection are answered one by one. */
const server = `
const [name, port] = process.argv.slice(1);
const { createServer } = require('node:net');
const socket = require('node:dgram').createSocket('udp4');
socket.on('message', (_, from) => socket.send(name + ' ' + from.address, from.port, from.address));
createServer((client) => {
  client.on('error', () => undefined);
  const answer = () => client.write(name + ' ' + client.remoteAddress.replace('::ffff:', '') + '\\n');
  client.on('data', answer);
}).listen(+port, '0.0.0.0', () => socket.bind(+port, '0.0.0.0', () => console.log('ready')));
`;

/** For each line `tcp|udp ADDRESS PORT`: what answers there, or the error's code; one UDP socket and a new connection each. */
const caller = `
const { connect } = require('node:net');
const datagrams = require('node:dgram').createSocket('udp4');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [protocol, address, port] = line.split(' ');
  let isOver = false;
  const say = (answer) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    console.log(answer);
  };
  const timer = setTimeout(() => say('silence'), 500);
  if (protocol === 'udp') {
    datagrams.removeAllListeners('message');
    datagrams.once('message', (answer) => say(String(answer)));
    datagrams.send('?', +port, address);
    return;
  }
  const socket = connect(+port, address, () => socket.write('?'));
  socket.once('data', (answer) => { say(String(answer).trim()); socket.destroy(); });
  socket.once('error', ({ code }) => say(code));
});
`;

/** A plane's bridge with pods' namespaces; `withDataDirectory` removes them. */
export async function podNetworks(
  directory: string,
  count: number,
): Promise<{ readonly plane: PlaneNetwork; readonly pods: readonly PodNetwork[] }> {
  const plane = await ensurePlaneNetwork({ dataDirectory: directory, ...rangesOf(directory) });
  const pods = Array.from({ length: count }, (_, index) => podNetworkAt(plane, 2 + index));
  for (const pod of pods) await createPodNetwork(plane, pod);
  return { plane, pods };
}

/** The network of a pod with that address. */
export function podNetworkWith(directory: string, address: string): PodNetwork {
  const podRange = parseRange(rangesOf(directory).podCidr);
  const index = parseRange(address).base - podRange.base;
  const plane = { bridge: bridgeName(directory), podRange, serviceRange: undefined, gateway: addressAt(podRange, 1) };
  return podNetworkAt(plane, index);
}

/** A program in a pod, or on the machine itself, that answers with its name. */
export async function startServer(
  t: TestContext,
  pod: PodNetwork | undefined,
  name: string,
  port: number,
): Promise<void> {
  const child = run(t, pod, server, [name, String(port)]);
  if (child.stdout !== null) await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) });
}

export interface Caller {
  /** `NAME CLIENT`, a code as ECONNREFUSED, or `silence` after half a second. */
  call(protocol: 'tcp' | 'udp', address: string, port: number): Promise<string>;
}

/** A program in a pod, or on the machine itself, that calls others. */
export function startCaller(t: TestContext, pod: PodNetwork | undefined): Caller {
  const child = run(t, pod, caller, []);
  if (child.stdout === null) throw new Error('the caller has no output');
  const lines = createInterface({ input: child.stdout });
  return {
    async call(protocol, address, port) {
      const answer = once(lines, 'line', { signal: AbortSignal.timeout(30_000) });
      child.stdin?.write(`${protocol} ${address} ${port}\n`);
      return String((await answer)[0]);
    },
  };
}

function run(t: TestContext, pod: PodNetwork | undefined, script: string, args: readonly string[]): ChildProcess {
  const node = [process.execPath, '-e', script, ...args];
  const [program = '', ...rest] =
    pod === undefined ? node : ['nsenter', `--net=${namespacePath(pod.namespace)}`, '--', ...node];
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}
