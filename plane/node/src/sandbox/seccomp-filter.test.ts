import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultFilter } from './seccomp-filter.js';

const x64 = 0xc000003e;
const [allowed, notPermitted, notImplemented] = [0x7fff0000, 0x00050001, 0x00050026];

/** What the kernel would do: the instructions that the filter is made of, on one call. */
function answerOf(
  filter: Buffer,
  call: { readonly arch?: number; readonly number: number; readonly argument?: number },
): number {
  const words: Readonly<Record<number, number>> = { 0: call.number, 4: call.arch ?? x64, 16: call.argument ?? 0 };
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const [code, value] = [filter.readUInt16LE(at * 8), filter.readUInt32LE(at * 8 + 4)];
    const jump = (isTaken: boolean) => filter.readUInt8(at * 8 + (isTaken ? 2 : 3));
    if (code === 0x20) accumulator = words[value] ?? Number.NaN;
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x35) at += jump(accumulator >= value);
    else if (code === 0x45) at += jump((accumulator & value) !== 0);
    else if (code === 0x06) return value;
    else throw new Error(`instruction ${code} is not one of ours`);
  }
  throw new Error('the filter ended without an answer');
}

function x64Filter(capabilities: readonly string[]): Buffer {
  const filter = defaultFilter(capabilities, 'x64');
  assert.ok(filter !== undefined);
  return filter;
}

test('N46 the default filter refuses what belongs to the machine, and new namespaces, and allows the rest', () => {
  const filter = x64Filter([]);
  const mount = 165;
  assert.equal(answerOf(filter, { number: mount }), notPermitted);
  const [read, clone, clone3, newUser, newThread] = [0, 56, 435, 0x10000000, 0x3d0f00];
  assert.equal(answerOf(filter, { number: read }), allowed);
  assert.equal(answerOf(filter, { number: clone, argument: newUser }), notPermitted);
  assert.equal(answerOf(filter, { number: clone, argument: newThread }), allowed);
  assert.equal(answerOf(filter, { number: clone3 }), notImplemented);
  const [i386, x32] = [0x40000003, 0x40000000];
  assert.equal(answerOf(filter, { number: read, arch: i386 }), notImplemented);
  assert.equal(answerOf(filter, { number: x32 + read }), notImplemented);
});

test('N46 a capability lets through the calls that it is for', () => {
  const [mount, ptraceRead, clone] = [165, 310, 56];
  const admin = x64Filter(['CAP_SYS_ADMIN']);
  assert.deepEqual(
    [mount, ptraceRead, clone].map((number) => answerOf(admin, { number, argument: 0x20000 })),
    [allowed, notPermitted, allowed],
  );
});

test('a processor that we have no numbers of has no filter', () => {
  assert.equal(defaultFilter([], 's390x'), undefined);
});
