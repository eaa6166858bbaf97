import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ensureAddressPlan, freePlans } from './address-plan.js';
import { claimRange } from './range-claim.js';

async function newDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-addresses-'));
  context.after(() => rm(directory, { recursive: true }));
  return directory;
}

test('a data directory keeps its ranges over starts', async (t) => {
  const directory = await newDirectory(t);
  const first = await ensureAddressPlan(directory);
  await first.release();
  const second = await ensureAddressPlan(directory);
  await second.release();
  assert.deepEqual(second.plan, first.plan);
  await writeFile(join(directory, 'addresses.json'), '{}');
  await assert.rejects(ensureAddressPlan(directory), /addresses\.json does not hold podCidr and serviceCidr; next:/);
});

test('a range in which the machine has an address is passed over', () => {
  const [preferred, second] = freePlans('/some/where', []);
  const taken = preferred?.podCidr.replace('0/20', '1') ?? '';
  const [other] = freePlans('/some/where', [taken]);
  assert.deepEqual(other, second);
  assert.equal(other?.podCidr.split('.')[1], other?.serviceCidr.split('.')[1]);
});

test('a range with which another plane starts in the same moment is passed over', async (t) => {
  const directory = await newDirectory(t);
  const chosen = await ensureAddressPlan(directory);
  assert.equal(await claimRange(chosen.plan.podCidr), undefined);
  await rm(join(directory, 'addresses.json'));
  const other = await ensureAddressPlan(directory);
  assert.notEqual(other.plan.podCidr, chosen.plan.podCidr);
  await other.release();
  await chosen.release();
  const free = await claimRange(chosen.plan.podCidr);
  assert.ok(free !== undefined, 'what was released is free');
  await free();
});

test('when every range is taken none is left', () => {
  const all = Array.from({ length: 100 }, (_, n) => `10.${100 + n}.0.1`);
  assert.deepEqual(freePlans('/some/where', all), []);
});
