// What core/runtime and core/client cost: queue, watch ingest, relist, heap of a cache, cold start. The peers, in the same
// run: plain JSON.parse of the same lines, and node doing nothing.
//   node bench/runtime.mjs
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connect } from '@castellan/client';
import { pods } from '@castellan/machinery';
import { Informer, WorkQueue } from '@castellan/runtime';
import { realWorld } from '@castellan/world';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc');
const world = realWorld();

await queueThroughput();
queueHeap();
await watchIngest();
await cacheHeap();
await coldStart();

async function queueThroughput() {
  const queue = new WorkQueue({ clock: world.clock });
  const keys = Array.from({ length: 1_000 }, (_, at) => `default/object-${at}`);
  const rounds = 1_000;
  const startedMs = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    for (const key of keys) queue.add(key);
    for (let at = 0; at < keys.length; at += 1) queue.done(await queue.take());
  }
  const perSecond = (keys.length * rounds) / seconds(startedMs);
  print('queue: add + take + done', `${(perSecond / 1e6).toFixed(2)} M/s`, '≥ 0.5 M/s');
}

function queueHeap() {
  const queue = new WorkQueue({ clock: world.clock });
  const before = heapBytes();
  for (let at = 0; at < 100_000; at += 1) queue.add(`default/object-${at}`);
  print('queue: heap of 100,000 keys', megabytes(heapBytes() - before), '< 25 MB');
  queue.close();
}

async function watchIngest() {
  const count = 100_000;
  const lines = Array.from({ length: 500 }, (_, at) => {
    const object = podOf(at % 100, 2_700, 1_000_000 + at);
    return `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
  });
  let startedMs = performance.now();
  for (let at = 0; at < count; at += 1) JSON.parse(lines[at % lines.length]);
  const parsePerSecond = count / seconds(startedMs);
  let handled = 0;
  let running;
  const stop = new AbortController();
  const finished = new Promise((done) => {
    const client = clientOf(
      () => ({ metadata: { resourceVersion: '1' }, items: [] }),
      async function* events() {
        // Each event is newer than all before it: its revision replaces the one in the line.
        const parts = lines.map((line) => line.split(/"resourceVersion":"\d+"/));
        startedMs = performance.now();
        for (let at = 0; at < count; ) {
          let chunk = '';
          for (; chunk.length < 65_536 && at < count; at += 1) {
            chunk += parts[at % parts.length].join(`"resourceVersion":"${1_000_000 + at}"`);
          }
          yield Buffer.from(chunk);
        }
        await new Promise((_resolve, reject) =>
          stop.signal.addEventListener('abort', () => reject(stop.signal.reason)),
        );
      },
    );
    const informer = new Informer({ client, world, type: pods });
    informer.addHandler(() => {
      handled += 1;
      if (handled === count) done();
    });
    running = informer.run(stop.signal);
  });
  await finished;
  const perSecond = count / seconds(startedMs);
  stop.abort(new Error('done'));
  await running;
  const ratio = (perSecond / parsePerSecond).toFixed(2);
  print('watch: 2.7 kB events into a cache', `${Math.round(perSecond)}/s`, `≥ 20000/s (${ratio} × JSON.parse alone)`);
}

async function cacheHeap() {
  const text = JSON.stringify({
    metadata: { resourceVersion: '1' },
    items: Array.from({ length: 10_000 }, (_, at) => podOf(at, 6_750, at + 1)),
  });
  await world.clock.sleep(20);
  let before = heapBytes();
  const parsed = JSON.parse(text);
  const plain = heapBytes() - before;
  parsed.items.length = 0;
  before = heapBytes();
  const stop = new AbortController();
  let lists = 0;
  let told = 0;
  const client = clientOf(
    () => {
      lists += 1;
      return text;
    },
    async function* events() {
      if (lists > 1)
        await new Promise((_resolve, reject) =>
          stop.signal.addEventListener('abort', () => reject(stop.signal.reason)),
        );
      throw new Error('cut');
    },
    () => (lists === 1 ? 410 : 200),
  );
  const informer = new Informer({ client, world, type: pods });
  informer.addHandler(() => {
    told += 1;
  });
  const running = informer.run(stop.signal);
  await informer.whenSynced();
  const toldFirst = told;
  while (lists < 2) await world.clock.sleep(5);
  await world.clock.sleep(500);
  print('relist of 10,000 unchanged objects', `${told - toldFirst} events`, '0');
  print(
    'cache: heap of 10,000 pods of 6.75 kB',
    megabytes(heapBytes() - before),
    `≤ 50 MB (plain parse ${megabytes(plain)})`,
  );
  stop.abort(new Error('done'));
  await running;
}

async function coldStart() {
  const asked = withResolvers();
  const server = createServer((_request, response) => {
    asked.resolve(performance.now());
    response.statusCode = 503;
    response.end();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const program = `
    import { connect } from '@castellan/client';
    import { pods } from '@castellan/machinery';
    import { createLog, createManager } from '@castellan/runtime';
    import { realWorld } from '@castellan/world';
    const world = realWorld();
    const client = connect({ server: 'http://127.0.0.1:${server.address().port}' }, { world });
    const log = createLog({ write: () => undefined, world });
    const controllers = [{ name: 'idle', for: pods, reconcile: async () => undefined }];
    createManager({ client, world, log, controllers }).run(new AbortController().signal);
    process.stdin.on('data', () => { console.log(process.memoryUsage().rss); process.exit(); });`;
  const nothingMs = await timeOf((node) => new Promise((ended) => node.once('exit', ended)), '');
  let rss = 0;
  const startMs = await timeOf(async (node) => {
    const atMs = await asked.promise;
    node.stdin.write('\n');
    for await (const data of node.stdout) rss += Number(data);
    return atMs;
  }, program);
  server.close();
  print(
    'cold start until the cache asks for data',
    `${Math.round(startMs)} ms`,
    `< 250 ms (node alone ${Math.round(nothingMs)} ms)`,
  );
  print('cold start: resident memory', megabytes(rss), '< 60 MB');
}

/** Milliseconds from spawn until what `wait` gives, or until it is done. */
async function timeOf(wait, program) {
  const startedMs = performance.now();
  const node = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: resolve(import.meta.dirname, '..', 'bench'),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const atMs = await wait(node);
  return (typeof atMs === 'number' && atMs > startedMs ? atMs : performance.now()) - startedMs;
}

/** A client whose lists and watches come from this process. */
function clientOf(list, watch, watchStatus = () => 200) {
  return connect(
    { server: 'https://in-process' },
    {
      world,
      transport: {
        async send({ path }) {
          if (path.includes('watch=true'))
            return { status: watchStatus(), headers: {}, body: watchStatus() === 200 ? watch() : bytes('{}') };
          const reply = list();
          return { status: 200, headers: {}, body: bytes(typeof reply === 'string' ? reply : JSON.stringify(reply)) };
        },
        close: () => Promise.resolve(),
      },
    },
  );
}

async function* bytes(text) {
  yield Buffer.from(text);
}

/** A pod as the API gives it, of about `size` bytes of JSON; one of 200 replica sets, which differ in their settings. */
function podOf(at, size, revision) {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `web-${at}`,
      namespace: `team-${at % 50}`,
      uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      resourceVersion: String(revision),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'web', tier: 'front', 'pod-template-hash': '7d4b9c6f5' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: `rs-${at % 200}`, controller: true },
      ],
      managedFields: [],
    },
    spec: {
      containers: ['main', 'sidecar'].map((name) => ({
        name,
        image: `registry/${name}:1.0`,
        env: [],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      })),
      volumes: [{ name: 'data', emptyDir: {} }],
    },
    status: {
      phase: 'Running',
      podIP: `10.0.${at % 250}.${at % 199}`,
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: '2026-01-01T00:00:05Z',
      })),
    },
  };
  for (let index = 0; JSON.stringify(pod).length < size; index += 1) {
    pod.spec.containers[index % 2].env.push({ name: `SETTING_${index}`, value: `value ${index} of ${at % 200}` });
  }
  return pod;
}

function heapBytes() {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function withResolvers() {
  const resolvers = {};
  resolvers.promise = new Promise((settle) => {
    resolvers.resolve = settle;
  });
  return resolvers;
}

function seconds(startedMs) {
  return (performance.now() - startedMs) / 1_000;
}

function megabytes(bytesCount) {
  return `${(bytesCount / 1e6).toFixed(1)} MB`;
}

function print(what, figure, target) {
  console.log(`${what.padEnd(44)} ${figure.padStart(12)}   to reach: ${target}`);
}
