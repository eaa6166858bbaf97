import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { realWorld } from '@castellan/world';
import { KeyspaceFailedError, openEmbeddedKeyspace, prefixRange } from '../src/index.js';

// A program of its own: it fills the small disk at argv[2], frees it, and starts again on what is there.

const disk = process.argv[2] ?? '';
const directory = join(disk, 'keyspace');
const ballast = join(disk, 'ballast');
await writeFile(ballast, Buffer.alloc(500_000));

const keyspace = await openEmbeddedKeyspace({ directory, world: realWorld() });
let acknowledged = 0;
let failure: unknown;
while (failure === undefined) {
  assert.ok(acknowledged < 10_000, 'the disk does not get full');
  const writes = Array.from({ length: 8 }, (_, index) =>
    keyspace.put(`/object/${acknowledged + index}`, Buffer.alloc(2000, 1), { ifRevision: 0 }),
  );
  for (const write of await Promise.allSettled(writes)) {
    if (write.status === 'fulfilled') acknowledged++;
    else failure = write.reason;
  }
}
assert.ok(failure instanceof KeyspaceFailedError);
assert.match(failure.message, /ENOSPC.*free space on that disk/);
assert.equal((await keyspace.range(prefixRange('/object/'), { countOnly: true })).count, acknowledged);
await keyspace.close();

await rm(ballast);
const again = await openEmbeddedKeyspace({ directory, world: realWorld() });
assert.equal((await again.range(prefixRange('/object/'), { countOnly: true })).count, acknowledged);
await again.put('/after', Buffer.from('x'), { ifRevision: 0 });
await again.close();
console.log(`all ${acknowledged} acknowledged writes are there`);
