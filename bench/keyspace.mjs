// What the embedded keyspace costs: durable puts per second, start time, bytes on disk, cost of ranges and watches.
// The peer is the disk's floor in the same run: appending the same bytes to a file and fdatasync.
//
//     node bench/keyspace.mjs [--quick]        after `npm run build`; the disk is that of the present directory

import { closeSync, fdatasync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, write } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { realWorld } from '@castellan/world';

const isQuick = process.argv.includes('--quick');
const seconds = isQuick ? 0.5 : 3;
const VALUE_BYTES = 1000;
const STORED_BYTES = 2000;

const beforeImport = performance.now();
const { memoryKeyspace, openEmbeddedKeyspace, prefixRange } = await import('@castellan/keyspace');
const importMs = performance.now() - beforeImport;

const scratch = mkdtempSync(join(process.cwd(), '.bench-keyspace-'));
const world = realWorld();
try {
  row('import of the package', `${importMs.toFixed(1)} ms`);
  for (const inFlight of [1, 64]) await comparePuts(inFlight);
  for (const objects of isQuick ? [10_000] : [10_000, 100_000]) await start(objects);
  await reads();
} finally {
  rmSync(scratch, { recursive: true });
}

/** Puts of new keys with so many in flight, against appends of as many bytes at once. */
async function comparePuts(inFlight) {
  const floor = await rateOfAppends(inFlight * (VALUE_BYTES + 60));
  const keyspace = await openEmbeddedKeyspace({ directory: join(scratch, `puts-${inFlight}`), world });
  const value = Buffer.alloc(VALUE_BYTES, 'v');
  let puts = 0;
  const measured = measure();
  const writers = Array.from({ length: inFlight }, async () => {
    while (measured.seconds() < seconds) {
      await keyspace.put(`/registry/configmaps/default/${puts++}`, value, { ifRevision: 0 });
    }
  });
  await Promise.all(writers);
  const { perSecond, cpuMicroseconds } = measured.of(puts);
  await keyspace.close();
  row(
    `durable puts, ${inFlight} in flight`,
    `${perSecond.toFixed(0)}/s`,
    `${cpuMicroseconds.toFixed(0)} µs CPU each`,
    `${(perSecond / (floor * inFlight)).toFixed(2)} × the disk's floor (${(floor * inFlight).toFixed(0)}/s)`,
  );
}

async function rateOfAppends(bytes) {
  const append = promisify(write);
  const sync = promisify(fdatasync);
  const descriptor = openSync(join(scratch, `floor-${bytes}`), 'a');
  const data = Buffer.alloc(bytes, 'v');
  let appends = 0;
  const measured = measure();
  for (; measured.seconds() < seconds; appends++) {
    await append(descriptor, data);
    await sync(descriptor);
  }
  closeSync(descriptor);
  return measured.of(appends).perSecond;
}

/** Start on a directory with so many objects: as they were written, and as a compaction has rewritten them. */
async function start(objects) {
  const directory = join(scratch, `start-${objects}`);
  let keyspace = await openEmbeddedKeyspace({ directory, world });
  // Two rounds: each object is written and then changed once, as a controller does.
  const revisions = new Array(objects).fill(0);
  for (const round of [1, 2]) {
    for (let first = 0; first < objects; first += 500) {
      const puts = Array.from({ length: Math.min(500, objects - first) }, async (_, index) => {
        const number = first + index;
        const value = Buffer.alloc(STORED_BYTES, round);
        const written = await keyspace.put(keyOf(number), value, { ifRevision: revisions[number] });
        revisions[number] = written.revision;
      });
      await Promise.all(puts);
    }
    if (round === 1) await report(`start with ${objects} objects of ${STORED_BYTES} bytes, from the log`);
  }
  await keyspace.compact(await keyspace.revision());
  const log = (await keyspace.status()).sizeBytes;
  const deadline = performance.now() + 20_000;
  while ((await keyspace.status()).sizeBytes >= log && performance.now() < deadline) await world.clock.sleep(5);
  await report(`start with ${objects} objects of ${STORED_BYTES} bytes, compacted`);
  await keyspace.close();

  async function report(name) {
    await keyspace.close();
    // The peer: only reading those bytes.
    const reading = measure();
    for (const file of readdirSync(directory)) readFileSync(join(directory, file));
    const readMs = reading.seconds() * 1000;
    const opening = measure();
    keyspace = await openEmbeddedKeyspace({ directory, world });
    const startMs = opening.seconds() * 1000;
    const { sizeBytes } = await keyspace.status();
    row(
      name,
      `${startMs.toFixed(0)} ms`,
      `${(startMs / readMs).toFixed(1)} × reading the files`,
      `${(sizeBytes / objects).toFixed(0)} bytes on disk per object: ${(sizeBytes / objects / STORED_BYTES).toFixed(2)} × the value`,
    );
  }
}

async function reads() {
  const keyspace = memoryKeyspace(world);
  const objects = 100_000;
  for (let number = 0; number < objects; number++) {
    await keyspace.put(keyOf(number), Buffer.from('v'), { ifRevision: 0 });
  }
  const range = prefixRange('/registry/configmaps/namespace-7/');
  const { count } = await keyspace.range(range);
  let lists = 0;
  const listing = measure();
  for (; listing.seconds() < seconds / 3; lists++) await keyspace.range(range);
  row(
    `list of ${count} out of ${objects} keys`,
    `${(1e6 / listing.of(lists).perSecond).toFixed(0)} µs`,
    `${(1e9 / listing.of(lists).perSecond / count).toFixed(0)} ns per key`,
  );
  let delivered = 0;
  for (let watcher = 0; watcher < 100; watcher++) {
    const onEvents = (events) => {
      delivered += events.length;
    };
    await keyspace.watch(prefixRange('/registry/'), await keyspace.revision(), { onEvents, onEnd() {} });
  }
  const watching = measure();
  for (let number = 0; watching.seconds() < seconds / 3; number++) {
    await keyspace.put(`/registry/watched/${number}`, Buffer.from('v'), { ifRevision: 0 });
  }
  row('events to 100 watchers', `${watching.of(delivered).perSecond.toFixed(0)}/s`);
  await keyspace.close();
}

function keyOf(number) {
  return `/registry/configmaps/namespace-${number % 100}/object-${number}`;
}

function measure() {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const elapsed = () => (performance.now() - start) / 1000;
  return {
    seconds: elapsed,
    of(count) {
      const { user, system } = process.cpuUsage(cpu);
      return { perSecond: count / elapsed(), cpuMicroseconds: (user + system) / count };
    },
  };
}

function row(name, ...figures) {
  console.log(`${name.padEnd(62)}${figures.map((figure) => figure.padEnd(28)).join('')}`.trimEnd());
}
