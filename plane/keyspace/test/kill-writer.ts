import { writeSync } from 'node:fs';
import { realWorld } from '@castellan/world';
import { openEmbeddedKeyspace } from '../src/index.js';

// A program of its own, to be killed: writes to the keyspace at argv[2] without end, from number argv[3] on, and prints
// the number of each write that was acknowledged.

const keyspace = await openEmbeddedKeyspace({
  directory: process.argv[2] ?? '',
  world: realWorld(),
  limits: { segmentBytes: 50_000, slackBytes: 50_000 },
});
let next = Number(process.argv[3]);

async function write(own: string): Promise<void> {
  for (;;) {
    const number = next++;
    const { keyValue } = await keyspace.get(own);
    const results = await Promise.all([
      keyspace.put(`/object/${number}`, Buffer.alloc(500, number % 251), { ifRevision: 0 }),
      // A key that is overwritten all the time makes garbage for the rewriting.
      keyspace.put(own, Buffer.alloc(3000), { ifRevision: keyValue?.modRevision ?? 0 }),
    ]);
    if (results[0].isWritten) writeSync(1, `${number}\n`);
    if (number % 50 === 0) await keyspace.compact(results[0].revision);
  }
}

await Promise.all(Array.from({ length: 16 }, (_, writer) => write(`/last/${writer}`)));
