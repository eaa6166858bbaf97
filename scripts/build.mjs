// Builds everything: each package's dist (tsc -b), then the command line program as one bundle in dist/.
//   node scripts/build.mjs
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, filesOf, packageFolders, read, root, run, tool } from './repository.mjs';

const bundleFolder = join(root, 'dist');
const stampPath = join(bundleFolder, '.built');
const entry = 'apps/cli/dist/src/main.js';

export async function build() {
  console.log('build: types and packages (tsc -b), then the bundle');
  const fingerprint = fingerprintOfSources();
  rmSync(stampPath, { force: true });
  const layers = await run(process.execPath, ['scripts/layers.mjs', '--write']);
  if (layers.code !== 0) {
    throw new Error(`${layers.output.trim()}\nNext: change the import, or layers.json if the layering is to change.`);
  }
  await compile([]);
  await bundle();
  writeFileSync(stampPath, fingerprint);
}

/** Compiles some packages and what they import; all of them when none is named. */
export async function compile(folders) {
  const { code, output } = await run(tool('tsc'), ['-b', '--pretty', 'false', ...folders]);
  if (code !== 0) throw new Error(`${output.trim()}\nThe sources do not compile (see above).`);
}

/** True when nothing that is built from has changed since the last build, and what it made is still there. */
export function isBuilt() {
  if (!existsSync(stampPath) || !existsSync(join(bundleFolder, 'main.js'))) return false;
  if (packageFolders.some((folder) => !existsSync(join(root, folder, 'dist', '.tsbuildinfo')))) return false;
  return readFileSync(stampPath, 'utf8') === fingerprintOfSources();
}

/**
 * One file and lazily loaded chunks, so that the program starts without reading hundreds of modules. Source maps are
 * beside it for debuggers and cost nothing at run time.
 */
async function bundle() {
  const { build: esbuild } = await import('esbuild');
  const fresh = `${bundleFolder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  await esbuild({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: fresh,
    entryNames: '[name]',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'external',
    minifySyntax: true,
    legalComments: 'none',
    // The same code as ES modules: esbuild gives a dynamic import of a CommonJS package no names.
    alias: { yaml: join(root, 'node_modules/yaml/browser/index.js') },
    logLevel: 'warning',
    // CommonJS packages among the dependencies ask for Node's modules with require().
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  // In one step, so that a program which starts meanwhile finds the old bundle or the new one.
  rmSync(bundleFolder, { recursive: true, force: true });
  renameSync(fresh, bundleFolder);
}

function fingerprintOfSources() {
  const hash = createHash('sha1');
  const sources = packageFolders.flatMap(filesOf).filter((path) => /\.(ts|json)$/.test(path));
  for (const path of sources.sort()) {
    const { mtimeMs, size } = statSync(join(root, path));
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  for (const path of ['layers.json', 'tsconfig.base.json', 'package-lock.json', 'scripts/build.mjs'])
    hash.update(read(path));
  return hash.digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build().catch(fail);
