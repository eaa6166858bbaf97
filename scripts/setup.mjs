// Makes a fresh clone ready to run: npm packages, Debian packages, build. Does nothing, quickly, when all is there.
//   node scripts/setup.mjs
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, compile, isBuilt } from './build.mjs';
import { fail, root, run } from './repository.mjs';

const minimumNode = [20, 19];
const shownLines = 12;

/** Programs that pods and their networks are made with, and the Debian package each comes in. */
const programs = {
  etcd: 'etcd-server',
  etcdctl: 'etcd-client',
  bwrap: 'bubblewrap',
  ip: 'iproute2',
  nsenter: 'util-linux',
  unshare: 'util-linux',
  setpriv: 'util-linux',
};

/** Without these a plane does less, and says so: network policies, and services that the kernel forwards. */
const optionalPrograms = { nft: 'nftables' };

/** `packages`: build only these folders and what they import, and no bundle; an empty list builds nothing. */
export async function setup({ packages } = {}) {
  checkNode();
  await ensureNpmPackages();
  await ensurePrograms();
  await ensureOptionalPrograms(optionalPrograms, 'what needs them is not there');
  if (packages === undefined) {
    if (!isBuilt()) await build().catch(fail);
  } else if (packages.length > 0) {
    await compile(packages).catch(fail);
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])) return;
  fail(
    `Castellan needs Node ${minimumNode.join('.')} or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      'Next: install a newer Node (Debian: see nodesource.com or use nvm) and run the command again.',
  );
}

async function ensureNpmPackages() {
  if (areNpmPackagesInstalled()) return;
  console.log('setup: installing npm packages (npm ci)');
  const { code, output } = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code === 0) return;
  const firstLines = output.trim().split('\n').slice(0, shownLines).join('\n');
  fail(
    `${firstLines}\nnpm ci failed (see above).\nNext: check the network and npm's registry setting, then run the command again.`,
  );
}

/** What the lock file wants against what npm recorded when it installed; times of files say nothing after a `git pull`. */
function areNpmPackagesInstalled() {
  const recordPath = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(recordPath)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(recordPath, 'utf8')).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || (entry.optional === true && installed[path] === undefined)) return true;
    return installed[path]?.version === entry.version && installed[path]?.link === entry.link;
  });
}

/** What tests run as pods beside what users do. Installed where that can be; where not, their tests are skipped. */
const testPrograms = { memcached: 'memcached', nginx: 'nginx-light' };

export async function ensureTestPrograms() {
  await ensureOptionalPrograms(testPrograms, 'their tests are skipped');
}

/** By root, from Debian; whoever cannot install them goes without. */
async function ensureOptionalPrograms(wanted, otherwise) {
  const missing = Object.keys(wanted).filter((program) => !isOnPath(program));
  if (missing.length === 0 || process.getuid?.() !== 0 || !isOnPath('apt-get')) return;
  const packages = missing.map((program) => wanted[program]);
  console.log(`setup: installing Debian packages (${packages.join(', ')})`);
  await installDebianPackages(packages, `apt-get install -y --no-install-recommends ${packages.join(' ')}`, {
    onFailure: () => console.log(`setup: no ${packages.join(', ')}: ${otherwise}`),
  });
}

async function ensurePrograms() {
  const missing = Object.keys(programs).filter((program) => !isOnPath(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => programs[program]))];
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (!isOnPath('apt-get')) {
    fail(
      `These programs are missing: ${missing.join(', ')}.\n` +
        `Next: install them with this system's package manager (on Debian they are in: ${packages.join(', ')}).`,
    );
  }
  if (process.getuid?.() !== 0) {
    fail(`These Debian packages are missing: ${packages.join(', ')}.\nNext: sudo ${command}`);
  }
  console.log(`setup: installing Debian packages (${packages.join(', ')})`);
  await installDebianPackages(packages, command);
  const stillMissing = missing.filter((program) => !isOnPath(program));
  if (stillMissing.length > 0)
    fail(`${stillMissing.join(', ')} still missing after ${command}.\nNext: look at its output.`);
}

/**
 * Debian's servers start as services when they are installed. We want the programs only: a policy file forbids
 * starting services during this installation, and they are not enabled for the next boot.
 */
async function installDebianPackages(packages, command, { onFailure = fail } = {}) {
  const policyPath = '/usr/sbin/policy-rc.d';
  const isPolicyOurs = !existsSync(policyPath);
  if (isPolicyOurs) writeFileSync(policyPath, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  try {
    const update = await run('apt-get', ['update', '-qq'], { env });
    const install = await run('apt-get', command.split(' ').slice(1), { env });
    if (install.code !== 0) {
      onFailure(
        `${update.code === 0 ? '' : update.output}${install.output.trim()}\n${command} failed (see above).\nNext: run it by hand.`,
      );
    }
  } finally {
    if (isPolicyOurs) rmSync(policyPath, { force: true });
  }
  const services = { 'etcd-server': 'etcd.service', memcached: 'memcached.service', 'nginx-light': 'nginx.service' };
  const installed = packages.map((name) => services[name]).filter((service) => service !== undefined);
  if (installed.length > 0 && isOnPath('systemctl')) await run('systemctl', ['disable', '--quiet', ...installed]);
}

function isOnPath(program) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup();
