import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { choosePlan, ensureAddressPlan } from './address-plan.js';

test('a data directory keeps its ranges over starts', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-addresses-'));
  const first = await ensureAddressPlan(directory);
  assert.deepEqual(await ensureAddressPlan(directory), first);
  await writeFile(join(directory, 'addresses.json'), '{}');
  await assert.rejects(ensureAddressPlan(directory), /addresses\.json does not hold podCidr and serviceCidr; next:/);
  await rm(directory, { recursive: true });
});

test('a range in which the machine has an address is passed over', () => {
  const preferred = choosePlan('/some/where', []);
  const taken = preferred.podCidr.replace('0/24', '1');
  const other = choosePlan('/some/where', [taken]);
  assert.notEqual(other.podCidr, preferred.podCidr);
  assert.equal(other.podCidr.split('.')[1], other.serviceCidr.split('.')[1]);
});

test('when every range is taken the error says what to do', () => {
  const all = Array.from({ length: 100 }, (_, n) => `10.${100 + n}.0.1`);
  assert.throws(() => choosePlan('/some/where', all), /castellan down/);
});
