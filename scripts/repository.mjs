// The repository on disk: where it is, which packages and sources it has, and how to run a program in it.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

export const packageFolders = Object.keys(JSON.parse(readFileSync(join(root, 'layers.json'), 'utf8')).packages).filter(
  (folder) => existsSync(join(root, folder)),
);

/** Files of a package, relative to the root, without what is built or installed. */
export function filesOf(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(dist|node_modules)$/.test(entry.name) ? [] : filesOf(path);
    return [path];
  });
}

export const isTypeScript = (path) => path.endsWith('.ts') && !path.endsWith('.d.ts');
export const isTest = (path) => /\.test\.ts$|\/test\/|^tests\//.test(path);

export function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

/** A package's or the root's tool: the file that its name in node_modules/.bin leads to. */
export function tool(name) {
  return join(root, 'node_modules', '.bin', name);
}

export function packageOf(source) {
  return packageFolders.find((folder) => source.startsWith(`${folder}/`));
}

/** The compiled file of a source: `core/x/src/a.ts` → `core/x/dist/src/a.js`; `tests/a.ts` → `tests/dist/a.js`. */
export function builtFileOf(source) {
  const folder = packageOf(source);
  return `${folder}/dist${source.slice(folder.length).replace(/\.ts$/, '.js')}`;
}

/**
 * Runs a program to its end: `{ code, output }`. With `isShown` its output goes to our own; otherwise it is collected.
 * It is stopped after `deadlineMs`.
 */
export function run(command, args, { isShown = false, deadlineMs = 600_000, env = {} } = {}) {
  return new Promise((settle) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
      env: { ...process.env, ...env },
      timeout: deadlineMs,
    });
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', (error) => settle({ code: 127, output: `${command}: ${error.message}` }));
    child.on('close', (code, signal) => {
      const late = `${command} ${args.join(' ')}: stopped by ${signal}; it may take ${deadlineMs / 1000} s at most`;
      settle(code === null ? { code: 1, output: `${output}\n${late}` } : { code, output });
    });
  });
}

/** Ends a script with a message, or an error's message, that says what is wrong and what to do. */
export function fail(reason) {
  console.error(reason instanceof Error ? reason.message : reason);
  process.exit(1);
}
