// npm run pack: the packages as they are published, each with one file of code, its types and its README.
//   npm run pack [-- --to FOLDER]     FOLDER is dist/packages when none is named; then `npm publish FOLDER/@castellan/NAME`
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, isBuilt } from './build.mjs';
import { fail, packageFolders, read, root } from './repository.mjs';

/** Programs are not for import, and tests stay here. */
const published = packageFolders.filter((folder) => /^(core|plane|operators)\//.test(folder));

/**
 * Writes each package below `folder`, from its dist. One file loads in less time and memory than the hundreds that it is
 * made of (`bench/runtime.mjs`); parts that are imported when they are needed stay files of their own.
 */
export async function pack(folder) {
  const { build: esbuild } = await import('esbuild');
  for (const source of published) {
    const manifest = JSON.parse(read(`${source}/package.json`));
    const target = join(folder, manifest.name);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    await esbuild({
      absWorkingDir: root,
      entryPoints: [`${source}/dist/src/index.js`],
      outdir: join(target, 'lib'),
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      logLevel: 'warning',
    });
    cpSync(join(root, source, 'dist/src'), join(target, 'types'), {
      recursive: true,
      filter: (path) => !/\.(js|map)$|\.test\.d\.ts$/.test(path),
    });
    cpSync(join(root, source, 'README.md'), join(target, 'README.md'));
    cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
    const exports = { '.': { types: './types/index.d.ts', default: './lib/index.js' } };
    writeFileSync(
      join(target, 'package.json'),
      `${JSON.stringify({ ...manifest, exports, files: ['lib', 'types'] }, null, 2)}\n`,
    );
  }
  return published.length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { to: { type: 'string', default: join(root, 'dist/packages') } } });
  try {
    if (!isBuilt()) await build();
    const folder = resolve(values.to);
    console.log(`${await pack(folder)} packages in ${folder}`);
  } catch (error) {
    fail(error);
  }
}
