import assert from 'node:assert/strict';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLog } from '@castellan/runtime';
import { realWorld, simulatedWorld } from '@castellan/world';
import { BackendChoice } from '../src/services/backend-choice.js';
import type { Frontend } from '../src/services/frontend.js';
import type { Backend } from '../src/services/service-backends.js';
import { ServiceListeners } from '../src/services/service-listeners.js';

const { clock } = realWorld();
const address = '127.0.0.1';
const of = { kind: 'Service', name: 'web' } as const;

function backend(port: number): Backend {
  return { address, port, hostname: undefined, node: undefined, isEnding: false };
}

/** Says its name to each caller, and again after each line. */
async function namedServer(t: TestContext, name: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(name));
    socket.write(name);
  });
  server.listen(0, address);
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function namedDatagrams(t: TestContext, name: string): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (_, from) => socket.send(name, from.port, from.address));
  socket.bind(0, address);
  await once(socket, 'listening');
  t.after(() => socket.close());
  return socket.address().port;
}

async function freePort(): Promise<number> {
  const server: Server = createServer();
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function listenersOf(t: TestContext): ServiceListeners {
  const listeners = new ServiceListeners(
    createLog({ write: () => undefined, world: realWorld() }),
    clock,
    () => undefined,
  );
  t.after(() => listeners.close());
  return listeners;
}

async function callTcp(t: TestContext, port: number): Promise<{ readonly socket: Socket; readonly name: string }> {
  const socket = connect(port, address);
  t.after(() => socket.destroy());
  const [name] = await once(socket, 'data', { signal: AbortSignal.timeout(30_000) });
  return { socket, name: String(name) };
}

async function callUdp(socket: DatagramSocket, port: number): Promise<string> {
  socket.send('?', port, address);
  const [name] = await once(socket, 'message', { signal: AbortSignal.timeout(30_000) });
  return String(name);
}

test('N17 connections take turns between backends and pass by one that does not answer', async (t) => {
  const [a, b, dead] = [await namedServer(t, 'a'), await namedServer(t, 'b'), await freePort()];
  const port = await freePort();
  const frontend: Frontend = {
    ...{ of, protocol: 'TCP', address, port, affinityMs: undefined, staysOnNode: false },
    backends: [a, b, dead].map(backend),
  };
  const listeners = listenersOf(t);
  await listeners.apply('test', [frontend]);
  const names: string[] = [];
  for (let count = 0; count < 6; count += 1) names.push((await callTcp(t, port)).name);
  assert.deepEqual(new Set(names), new Set(['a', 'b']));
});

test('N23 a backend that leaves gets no new connection, and those that stand go on, also without the service', async (t) => {
  const [a, b] = [await namedServer(t, 'a'), await namedServer(t, 'b')];
  const port = await freePort();
  const frontend = { of, protocol: 'TCP', address, port, affinityMs: undefined, staysOnNode: false };
  const listeners = listenersOf(t);
  await listeners.apply('test', [{ ...frontend, backends: [backend(a)] }]);
  const standing = await callTcp(t, port);
  await listeners.apply('test', [{ ...frontend, backends: [backend(b)] }]);
  for (let count = 0; count < 4; count += 1) assert.equal((await callTcp(t, port)).name, 'b');
  await listeners.apply('test', []);
  await assert.rejects(callTcp(t, port), { code: 'ECONNREFUSED' });
  standing.socket.write('?');
  assert.equal(String((await once(standing.socket, 'data'))[0]), 'a');
});

test('N24 datagrams of one client port stay with one backend until it leaves, and are answered from the service address', async (t) => {
  const [a, b] = [await namedDatagrams(t, 'a'), await namedDatagrams(t, 'b')];
  const port = await freePort();
  const frontend = { of, protocol: 'UDP', address, port, affinityMs: undefined, staysOnNode: false };
  const listeners = listenersOf(t);
  await listeners.apply('test', [{ ...frontend, backends: [a, b].map(backend) }]);
  const client = createSocket('udp4');
  t.after(() => client.close());
  const first = await callUdp(client, port);
  for (let count = 0; count < 4; count += 1) assert.equal(await callUdp(client, port), first);
  const [other, name] = first === 'a' ? [b, 'b'] : [a, 'a'];
  await listeners.apply('test', [{ ...frontend, backends: [backend(other)] }]);
  assert.equal(await callUdp(client, port), name);
});

test('an address that another owner has is taken over when it is given up', async (t) => {
  const [a, b] = [await namedServer(t, 'a'), await namedServer(t, 'b')];
  const port = await freePort();
  const frontend = { of, protocol: 'TCP', address, port, affinityMs: undefined, staysOnNode: false };
  const listeners = listenersOf(t);
  await listeners.apply('one', [{ ...frontend, backends: [backend(a)] }]);
  await listeners.apply('two', [{ ...frontend, backends: [backend(b)] }]);
  assert.equal((await callTcp(t, port)).name, 'a');
  await listeners.apply('one', []);
  await listeners.apply('two', [{ ...frontend, backends: [backend(b)] }]);
  assert.equal((await callTcp(t, port)).name, 'b');
});

test('N33 a port that another program has is told once, waited for, and had when it is free', async (t) => {
  const listeners = listenersOf(t);
  const other = createServer();
  other.listen(0, address);
  await once(other, 'listening');
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const frontend = { of, protocol: 'TCP', address, port, affinityMs: undefined, staysOnNode: false };
  const wanted = [{ ...frontend, backends: [backend(await namedServer(t, 'a'))] }];
  const [problem] = await listeners.apply('test', wanted);
  assert.match(problem?.message ?? '', /EADDRINUSE/);
  assert.deepEqual(await listeners.apply('test', wanted), []);
  assert.equal(listeners.isWaiting('test'), true);
  other.close();
  await once(other, 'close');
  await listeners.apply('test', wanted);
  assert.equal(listeners.isWaiting('test'), false);
  assert.equal((await callTcp(t, port)).name, 'a');
});

test('N33 a port of UDP that another program has is told too, and no longer waited for when nobody wants it', async (t) => {
  const listeners = listenersOf(t);
  const port = await namedDatagrams(t, 'other');
  const frontend = { of, protocol: 'UDP', address, port, backends: [], affinityMs: undefined, staysOnNode: false };
  assert.equal((await listeners.apply('test', [frontend])).length, 1);
  await listeners.apply('test', []);
  assert.equal(listeners.isWaiting('test'), false);
});

test('N25 with session affinity a client has the same backend until its time is over, counted from its last connection', async () => {
  const world = simulatedWorld(1);
  const choice = new BackendChoice(world.clock, () => undefined);
  const [a, b, c] = [backend(1), backend(2), backend(3)];
  const rest = { affinityMs: 10_000, staysOnNode: false };
  choice.replace({ backends: [a, b, c], ...rest });
  const call = (client: string) => {
    const chosen = choice.order(client)[0] ?? a;
    choice.chosen(client, chosen);
    return chosen.port;
  };
  const first = call('10.0.0.1');
  const second = call('10.0.0.2');
  assert.notEqual(first, second);
  await world.advance(9_000);
  assert.equal(call('10.0.0.1'), first);
  await world.advance(9_000);
  assert.equal(call('10.0.0.1'), first, 'its time began anew');
  choice.replace({ backends: [a, b, c].filter(({ port }) => port !== first), ...rest });
  assert.notEqual(call('10.0.0.1'), first, 'what has left is not waited for');
  choice.replace({ backends: [a, b, c], ...rest });
  const kept = call('10.0.0.1');
  await world.advance(10_000);
  const later = [call('10.0.0.3'), call('10.0.0.4'), call('10.0.0.1')];
  assert.equal(new Set(later).size, 3, `after ${kept} it is one client among others`);
});

test('N26 with internalTrafficPolicy Local a pod gets to the backends of its node, and the machine to all', () => {
  const nodeOf = (client: string) => (client === 'machine' ? undefined : client);
  const choice = new BackendChoice(clock, nodeOf);
  const backends = [
    { ...backend(1), node: 'one' },
    { ...backend(2), node: 'two' },
  ];
  choice.replace({ backends, affinityMs: undefined, staysOnNode: true });
  const portsFor = (client: string) =>
    choice
      .order(client)
      .map(({ port }) => port)
      .sort();
  assert.deepEqual(portsFor('one'), [1]);
  assert.deepEqual(portsFor('three'), []);
  assert.deepEqual(portsFor('machine'), [1, 2]);
});
