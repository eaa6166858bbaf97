import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { castellanAs } from './command-line.js';

const nobody = 65_534;

/** The test becomes another user, who must be able to read this program and to make namespaces. */
function whyNot(): string | false {
  if (process.getuid?.() !== 0) return 'only root can become another user';
  const asNobody = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];
  try {
    execFileSync('setpriv', [...asNobody, 'test', '-r', new URL(import.meta.url).pathname], { stdio: 'ignore' });
    execFileSync('setpriv', [...asNobody, 'unshare', '--user', '--map-root-user', '--net', 'true'], {
      stdio: 'ignore',
    });
    return false;
  } catch {
    return 'an ordinary user cannot read this program, or may not make namespaces here';
  }
}

test('an ordinary user brings a plane with a node up and down, and leaves no process', { skip: whyNot() }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-cli-'));
  await chown(directory, nobody, nobody);
  const at = ['--data-dir', directory];
  try {
    const up = await castellanAs(nobody, ['up', '--detach', '--port', '0', ...at]);
    assert.equal(up.code, 0, `${up.stdout}${up.stderr}`);
    const status = await castellanAs(nobody, ['status', ...at]);
    assert.match(status.stdout, /^plane {2}ready/, status.stderr);
    const down = await castellanAs(nobody, ['down', ...at]);
    assert.equal(down.code, 0, `${down.stdout}${down.stderr}`);
    assert.deepEqual(await processesNaming(directory), []);
  } finally {
    await castellanAs(nobody, ['down', ...at]);
    await rm(directory, { recursive: true, force: true });
  }
});

async function processesNaming(text: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commandLines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return commandLines.filter((line) => line.includes(text));
}
