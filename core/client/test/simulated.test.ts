import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { configMaps } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { ConnectionError, connect, type RawRequest, type RawResponse, type Transport } from '../src/index.js';

const key = { namespace: 'default', name: 'a' };

/** A transport within the process, as a plane in the same process may offer one. */
function transportOf(send: (request: RawRequest) => Promise<RawResponse>): Transport {
  return { send, close: () => Promise.resolve() };
}

async function* bytes(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}

test('takes any transport in the place of the network', async () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
  const transport = transportOf(async () => ({ status: 200, headers: {}, body: bytes(JSON.stringify(object)) }));
  const client = connect({ server: 'https://in-process' }, { transport });
  assert.deepEqual(await client.get(configMaps, key), object);
});

test('a request ends after 30 s, also when the body never ends', async () => {
  const world = simulatedWorld(1);
  for (const body of [undefined, (signal: AbortSignal | undefined) => silent(signal)]) {
    const transport = transportOf(({ signal }) => {
      return body === undefined ? never(signal) : Promise.resolve({ status: 200, headers: {}, body: body(signal) });
    });
    const client = connect({ server: 'https://silent' }, { world, transport });
    const startedMs = world.clock.monotonicNow();
    await assert.rejects(world.run(client.get(configMaps, key), 60_000), (error) => {
      return error instanceof ConnectionError && error.failure === 'deadline';
    });
    assert.equal(world.clock.monotonicNow() - startedMs, 30_000);
    assert.equal(world.pendingTimers, 0);
  }
});

// biome-ignore lint/correctness/useYield: it is silent
async function* silent(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  await never(signal);
}

test('a silent watch is held for dead 15 s after the time at which the server should have ended it', async () => {
  const world = simulatedWorld(1);
  const transport = transportOf(async ({ signal }) => ({ status: 200, headers: {}, body: silent(signal) }));
  const client = connect({ server: 'https://silent' }, { world, transport });
  const events = client.watch(configMaps, { timeoutSeconds: 300 })[Symbol.asyncIterator]();
  await assert.rejects(world.run(events.next(), 400_000), { name: 'ConnectionError', failure: 'deadline' });
  assert.equal(world.clock.monotonicNow(), 315_000);
});

test('a line that is no event, and a watch that ends within one, are errors and not ends', async () => {
  for (const text of [
    '{"type":"ADDED"}\n',
    'not JSON\n',
    '{"type":"ADDED","object":{"metadata":{}}',
    '{"type":"X","object":{"metadata":{}}}\n',
  ]) {
    const transport = transportOf(async () => ({ status: 200, headers: {}, body: bytes(text) }));
    const events = connect({ server: 'https://odd' }, { transport }).watch(configMaps, {})[Symbol.asyncIterator]();
    await assert.rejects(events.next(), { name: 'ConnectionError' });
  }
});

test('waits as long as Retry-After says, at most 10 s at a time', async () => {
  const world = simulatedWorld(1);
  const replies = ['3', '999', undefined];
  const transport = transportOf(async () => {
    const seconds = replies.shift();
    if (seconds === undefined) return { status: 200, headers: {}, body: bytes('{"metadata":{}}') };
    return { status: 503, headers: { 'retry-after': seconds }, body: bytes('busy') };
  });
  await world.run(connect({ server: 'https://busy' }, { world, transport }).get(configMaps, key), 30_000);
  assert.equal(world.clock.monotonicNow(), 13_000);
});

test('a token in a file is read again when it is a minute old', async () => {
  const world = simulatedWorld(1);
  const directory = await mkdtemp(join(tmpdir(), 'client-token-'));
  const tokenFile = join(directory, 'token');
  const seen: (string | undefined)[] = [];
  const transport = transportOf(async ({ headers }) => {
    seen.push(headers?.authorization);
    return { status: 200, headers: {}, body: bytes('{"metadata":{}}') };
  });
  const client = connect({ server: 'https://here', tokenFile }, { world, transport });
  try {
    await writeFile(tokenFile, 'one\n');
    await client.get(configMaps, key);
    await writeFile(tokenFile, 'two\n');
    await client.get(configMaps, key);
    await world.advance(61_000);
    await client.get(configMaps, key);
    await rm(tokenFile);
    await world.advance(61_000);
    await assert.rejects(client.get(configMaps, key), {
      name: 'ConfigError',
      message: /the token file .* cannot be read/,
    });
  } finally {
    await rm(directory, { recursive: true });
  }
  assert.deepEqual(seen, ['Bearer one', 'Bearer one', 'Bearer two']);
});
