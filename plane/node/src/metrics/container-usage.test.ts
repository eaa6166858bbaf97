import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { containerUsage } from './container-usage.js';

/** A control group as files; pid 0 is nobody's. */
function group(files: Readonly<Record<string, string>>, use: (directory: string) => void): void {
  const parent = mkdtempSync(join(tmpdir(), 'castellan-usage-'));
  try {
    const directory = join(parent, 'group');
    mkdirSync(directory);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    use(directory);
  } finally {
    rmSync(parent, { recursive: true });
  }
}

test('control groups of version 2 tell the time of processors, and the working set without what can be taken back', () => {
  const files = {
    'cpu.stat': 'usage_usec 2500000\nuser_usec 1\n',
    'memory.current': '10000\n',
    'memory.stat': 'anon 1\ninactive_file 4000\n',
  };
  group(files, (directory) => {
    assert.deepEqual(containerUsage({ cgroups: [directory], pid: 0 }), { cpuSeconds: 2.5, memoryBytes: 6_000 });
  });
});

test('control groups of version 1 do so where they have the files', () => {
  const files = {
    'cpuacct.usage': '1500000000\n',
    'memory.usage_in_bytes': '10000\n',
    'memory.stat': 'inactive_file 1\ntotal_inactive_file 3000\n',
  };
  group(files, (directory) => {
    assert.deepEqual(containerUsage({ cgroups: [directory], pid: 0 }), { cpuSeconds: 1.5, memoryBytes: 7_000 });
  });
});

test('where control groups do not count, processes are looked at: those of the group, or the family of the first', () => {
  const own = containerUsage({ cgroups: [], pid: process.pid });
  assert.ok(own.memoryBytes > 1_000_000, `${own.memoryBytes} bytes`);
  assert.ok(own.cpuSeconds > 0, `${own.cpuSeconds} s`);
  group({ 'cgroup.procs': `${process.pid}\n`, 'cpu.shares': '2\n' }, (directory) => {
    assert.ok(containerUsage({ cgroups: [directory], pid: 0 }).memoryBytes > 1_000_000);
  });
});
