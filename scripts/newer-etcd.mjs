// The etcd of the next Debian, unpacked beside the one that is installed, so that tests of the storage run on both.
//   node scripts/newer-etcd.mjs
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './repository.mjs';

const release = 'trixie';
const deadlineMs = 60_000;

/** Where plane/keyspace/test/etcd-process.ts looks for it. */
const folder = join(root, 'node_modules/.cache/castellan/etcd-3.5');

/**
 * Downloads and unpacks it, once; nothing of the system is changed. Where that cannot be (another distribution, no network)
 * it says so, and the tests that need it are skipped.
 */
export async function ensureNewerEtcd() {
  if (existsSync(join(folder, 'etcd'))) return;
  const scratch = `${folder}.new`;
  rmSync(scratch, { recursive: true, force: true });
  for (const part of ['lists/partial', 'archives/partial']) mkdirSync(join(scratch, part), { recursive: true });
  try {
    console.log(`setup: fetching the etcd-server of Debian ${release}, for tests`);
    const targets = await must('apt-get', ['indextargets', '--format', '$(CREATED_BY) $(ORIGIN) $(REPO_URI)']);
    const [, mirror] = /^Packages Debian (\S+)$/m.exec(targets) ?? [];
    if (mirror === undefined) throw new Error('apt here has no Debian mirror');
    writeFileSync(join(scratch, 'sources.list'), `deb ${mirror} ${release} main\n`);
    const options = [
      `Dir::Etc::SourceList=${scratch}/sources.list`,
      'Dir::Etc::SourceParts=/dev/null',
      `Dir::State::Lists=${scratch}/lists`,
      `Dir::Cache=${scratch}`,
      'Acquire::Retries=0',
      'Acquire::http::Timeout=5',
      // Who is not root cannot change to apt's own user.
      'APT::Sandbox::User=',
    ].flatMap((option) => ['-o', option]);
    await must('apt-get', [...options, 'update', '-qq']);
    await must('sh', ['-c', 'cd "$0" && apt-get "$@"', scratch, ...options, 'download', '-qq', 'etcd-server']);
    const archive = readdirSync(scratch).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get downloaded nothing');
    await must('dpkg-deb', ['-x', join(scratch, archive), join(scratch, 'unpacked')]);
    mkdirSync(folder, { recursive: true });
    cpSync(join(scratch, 'unpacked/usr/bin/etcd'), join(folder, 'etcd'));
  } catch (error) {
    console.log(`setup: no etcd 3.5, its tests are skipped: ${error.message}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function must(command, args) {
  const { code, output } = await run(command, args, { deadlineMs });
  if (code !== 0) throw new Error(output.trim().split('\n').slice(0, 3).join(' '));
  return output;
}

if (process.argv[1] === import.meta.filename) await ensureNewerEtcd();
