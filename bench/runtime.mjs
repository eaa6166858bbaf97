// What core/runtime and core/client cost: the queue and the watch alone, then caches beside @kubernetes/client-node, which is
// installed by this program where npm can.
//   node bench/runtime.mjs [--peer COMMAND]
// COMMAND is another program to compare, such as one with controller-runtime. It is given SERVER, the URL of an API server that
// has pods (lists, watches, watch-lists, PartialObjectMetadata; no TLS, no discovery), and PART: whole, picked (it needs
// status.conditions and spec.nodeName only) or metadata. It keeps a cache of all pods with one handler that counts its calls
// and notes when the first update came. When the handler is told of the pod `end`, it collects garbage, prints one line of
// JSON, { "told": calls, "cpuSeconds": spent from the first update to `end`, "heapBytes": live heap }, and waits to be ended.
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connect } from '@castellan/client';
import { pods } from '@castellan/machinery';
import { Informer, WorkQueue } from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { podOf } from './runtime/pods.mjs';
import { castellan, castellanBundle, clientNode, program, runProgram } from './runtime/programs.mjs';

const { values: options } = parseArgs({ options: { peer: { type: 'string', multiple: true } } });
const foreign = (options.peer ?? []).map((command) => program(command.split('/').at(-1), command.split(' ')));

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc');
const world = realWorld();

await queueThroughput();
queueHeap();
await watchIngest();
await compare();

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
  let started = process.cpuUsage();
  for (let at = 0; at < count; at += 1) JSON.parse(lines[at % lines.length]);
  const parsePerSecond = count / cpuSeconds(started);
  let handled = 0;
  let running;
  const stop = new AbortController();
  const finished = new Promise((done) => {
    const client = clientOf(
      () => ({ metadata: { resourceVersion: '1' }, items: [] }),
      async function* events() {
        // Each event is newer than all before it: its revision replaces the one in the line.
        const parts = lines.map((line) => line.split(/"resourceVersion":"\d+"/));
        started = process.cpuUsage();
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
    const informer = new Informer({ client, world, type: pods, usesWatchList: false });
    informer.addHandler(() => {
      handled += 1;
      if (handled === count) done();
    });
    running = informer.run(stop.signal);
  });
  await finished;
  const perSecond = count / cpuSeconds(started);
  stop.abort(new Error('done'));
  await running;
  const ratio = (perSecond / parsePerSecond).toFixed(2);
  print(
    'watch: 2.7 kB events a second of one core',
    `${Math.round(perSecond)}/s`,
    `≥ 20000/s (${ratio} × JSON.parse alone)`,
  );
}

/** The same work for us and for peers: each is a process of its own, before a server of pods. */
async function compare() {
  const peers = [clientNode(), ...foreign].filter((peer) => peer !== undefined);
  const own = await castellan();
  const all = [own, ...peers];
  const many = { pods: 10_000, podBytes: 6_750 };
  const few = { pods: 1, podBytes: 2_700 };
  const burst = { pods: 100, podBytes: 2_700, events: 100_000, eventBytes: 2_700 };
  console.log(
    `\n${'against the same server of pods'.padEnd(44)} ${all.map(({ name }) => name.padStart(18)).join(' ')}`,
  );
  await row('heap of 10,000 pods of 6.75 kB', '≤ 50 MB', heapOf('whole'));
  await row('heap of them, two fields picked', '≤ 12 MB', heapOf('picked'));
  await row('heap of them, metadata only', '≤ 6.5 MB', heapOf('metadata'));
  await row('watch: 2.7 kB events a second of one core', '≥ 20000', async (one) => {
    const { cpuSeconds } = await runProgram(one, burst);
    return { figure: burst.events / cpuSeconds, text: String(Math.round(burst.events / cpuSeconds)) };
  });
  await row('events told by a relist of 10,000 unchanged', '0', async (one) => {
    const { told } = await runProgram(one, { ...many, isCut: true });
    // Each pod once, and `end`.
    const again = told - many.pods - 1;
    return { figure: again, text: String(again) };
  });
  await row('start until data is asked for', '< 250 ms', startOf());
  await row('resident memory then', '< 60 MB', residentOf());
  const bundle = castellanBundle();
  await row('start of one file, made by esbuild', '< 250 ms', startOf(bundle));
  await row('resident memory then', '< 60 MB', residentOf(bundle));

  function startOf(bundled) {
    return async (one) => {
      if (bundled !== undefined && one !== own) return undefined;
      const { startMs } = await runProgram(bundled ?? one, few);
      return { figure: startMs, text: `${Math.round(startMs)} ms` };
    };
  }

  function residentOf(bundled) {
    return async (one) => {
      if (bundled !== undefined && one !== own) return undefined;
      const { startResidentBytes } = await runProgram(bundled ?? one, few);
      return { figure: startResidentBytes, text: megabytes(startResidentBytes) };
    };
  }

  /** The live heap with all pods, less that with one. Peers without caches of parts would hold the whole again. */
  function heapOf(part) {
    return async (one) => {
      if (part !== 'whole' && one !== own && !foreign.includes(one)) return undefined;
      const base = await runProgram(one, few, part);
      const full = await runProgram(one, many, part);
      const figure = full.heapBytes - base.heapBytes;
      return { figure, text: megabytes(figure) };
    };
  }

  async function row(what, target, measure) {
    const results = [];
    for (const one of all) results.push(await measure(one));
    const texts = results.map((result, at) => {
      if (result === undefined) return '–';
      const ours = results[0].figure;
      return at === 0 || ours === 0 ? result.text : `${result.text} (${(result.figure / ours).toFixed(1)} ×)`;
    });
    console.log(`${what.padEnd(44)} ${texts.map((text) => text.padStart(18)).join(' ')}   to reach: ${target}`);
  }
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

function heapBytes() {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function seconds(startedMs) {
  return (performance.now() - startedMs) / 1_000;
}

/** Spent by this process since then: a busy machine does not change it much. */
function cpuSeconds(since) {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

function megabytes(bytesCount) {
  return `${(bytesCount / 1e6).toFixed(1)} MB`;
}

function print(what, figure, target) {
  console.log(`${what.padEnd(44)} ${figure.padStart(12)}   to reach: ${target}`);
}
