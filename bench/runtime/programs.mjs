import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { pack } from '../../scripts/pack.mjs';
import { startPodServer } from './pod-server.mjs';

const peerVersion = '1.4.0';
const modules = resolve(import.meta.dirname, '../../node_modules/.cache/bench-client-node');

const ownProgram = fileURLToPath(new URL('./castellan.mjs', import.meta.url));
const ownReporter = fileURLToPath(new URL('./report.mjs', import.meta.url));
const peerProgram = fileURLToPath(new URL('./client-node.mjs', import.meta.url));
const ownFolder = resolve(import.meta.dirname, '../../node_modules/.cache/bench-castellan');

/** With the packages as they are published. */
export async function castellan() {
  await pack(join(ownFolder, 'node_modules'));
  for (const file of [ownProgram, ownReporter]) cpSync(file, join(ownFolder, basename(file)));
  return program('castellan', [process.execPath, join(ownFolder, basename(ownProgram))]);
}

/** The same as an operator is shipped: one file with what it uses. */
export function castellanBundle() {
  const outfile = join(ownFolder, 'one-file.mjs');
  buildSync({
    entryPoints: [ownProgram],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return program('castellan, one file', [process.execPath, outfile]);
}

/** @kubernetes/client-node, installed where only this uses it; `undefined`, with the reason said, when it cannot be. */
export function clientNode() {
  try {
    if (!existsSync(join(modules, 'node_modules/@kubernetes/client-node'))) {
      mkdirSync(modules, { recursive: true });
      writeFileSync(join(modules, 'package.json'), '{ "private": true }\n');
      const install = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
      execFileSync('npm', [...install, `@kubernetes/client-node@${peerVersion}`], { cwd: modules, stdio: 'pipe' });
    }
    return program(`client-node ${peerVersion}`, [process.execPath, peerProgram], { MODULES: modules });
  } catch (error) {
    console.log(
      `@kubernetes/client-node is left out: npm could not install it (${String(error.message).split('\n')[0]})`,
    );
    return undefined;
  }
}

export function program(name, command, env = {}) {
  return { name, command, env };
}

/**
 * Runs a program against a server of pods until it has reported, and ends it. Gives what it printed, how long it took from
 * its start to its first request, and its resident memory then and at the end.
 */
export async function runProgram({ command: [file, ...words], env }, serverOptions, part = 'whole') {
  const server = await startPodServer(serverOptions);
  const startedMs = performance.now();
  const child = spawn(file, words, {
    env: { ...process.env, ...env, SERVER: server.url, PART: part },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const reported = (async () => {
    for await (const text of createInterface({ input: child.stdout })) return JSON.parse(text);
    throw new Error(`${file} ${words.join(' ')} ended without a report`);
  })();
  try {
    const firstMs = await Promise.race([server.firstRequest, reported.then(() => Number.NaN)]);
    const startResidentBytes = residentBytes(child.pid);
    const report = await reported;
    return { ...report, startMs: firstMs - startedMs, startResidentBytes, residentBytes: residentBytes(child.pid) };
  } finally {
    clearTimeout(deadline);
    child.kill('SIGKILL');
    server.close();
  }
}

function residentBytes(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
