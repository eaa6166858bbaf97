// Keeps what follows from layers.json in step with it: each package's dependencies on other packages,
// each tsconfig's references, the figure in ARCHITECTURE.md, and the rule that imports follow the layers and only use front doors.
//   node scripts/layers.mjs           check; names each difference and exits 1
//   node scripts/layers.mjs --write   write the files that follow
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figureOf } from './figure.mjs';
import { replacePart } from './generated-part.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const isWriting = process.argv.includes('--write');
const { packages } = JSON.parse(readFileSync(join(root, 'layers.json'), 'utf8'));
const problems = [];

const packageName = (folder) => `@castellan/${folder.split('/')[1]}`;
const folderOf = new Map(
  Object.keys(packages)
    .filter((folder) => folder.includes('/'))
    .map((folder) => [packageName(folder), folder]),
);

for (const [folder, imports] of Object.entries(packages)) {
  if (!existsSync(join(root, folder))) continue;
  follow(join(folder, 'tsconfig.json'), tsconfigOf(folder, imports));
  if (folder.includes('/')) follow(join(folder, 'package.json'), manifestOf(folder, imports));
  for (const file of sourcesOf(folder)) checkImports(folder, imports, file);
}
follow('tsconfig.json', {
  files: [],
  references: Object.keys(packages)
    .filter((folder) => existsSync(join(root, folder)))
    .map((folder) => ({ path: `./${folder}` })),
});

followInDocument('ARCHITECTURE.md', 'figure', figureOf(packages));

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`layers: ${Object.keys(packages).length} packages, imports follow layers.json`);

function tsconfigOf(folder, imports) {
  const up = folder.includes('/') ? '../..' : '..';
  return {
    extends: `${up}/tsconfig.base.json`,
    compilerOptions: { rootDir: '.', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' },
    include: folder.includes('/') ? ['src', 'test'] : ['.'],
    ...(folder.includes('/') ? {} : { exclude: ['dist'] }),
    references: imports.map((other) => ({ path: `${up}/${other}` })),
  };
}

function manifestOf(folder, imports) {
  const path = join(root, folder, 'package.json');
  const present = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  const external = Object.entries(present.dependencies ?? {}).filter(([name]) => !name.startsWith('@castellan/'));
  const dependencies = Object.fromEntries(
    [...imports.map((other) => [packageName(other), '0.1.0']), ...external].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return {
    name: packageName(folder),
    version: '0.1.0',
    description: present.description ?? '',
    license: 'Apache-2.0',
    type: 'module',
    engines: { node: '>=20.19' },
    exports: { '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' } },
    files: ['dist/src'],
    ...(Object.keys(dependencies).length > 0 ? { dependencies } : {}),
  };
}

function follow(path, content) {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  const present = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;
  if (present !== undefined && JSON.stringify(JSON.parse(present)) === JSON.stringify(content)) return;
  if (isWriting) writeFileSync(join(root, path), text);
  else problems.push(`${path} does not follow layers.json; next: node scripts/layers.mjs --write`);
}

function followInDocument(path, name, content) {
  const present = readFileSync(join(root, path), 'utf8');
  const wanted = replacePart(present, name, content);
  if (wanted === present) return;
  if (isWriting) writeFileSync(join(root, path), wanted);
  else problems.push(`${path}: its ${name} does not follow layers.json; next: node scripts/layers.mjs --write`);
}

function sourcesOf(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !/(^|\/)(dist|node_modules)\//.test(name))
    .map((name) => join(folder, name));
}

function checkImports(folder, imports, file) {
  const isTest = /(\.test\.ts$|\/test\/|^tests\/)/.test(file);
  const depth = file.split('/').length;
  if (folder.includes('/') && !isTest && depth > 5) problems.push(`${file}: deeper than tier/package/src/area/file.ts`);
  const text = readFileSync(join(root, file), 'utf8');
  for (const match of text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
    const specifier = match[1];
    if (specifier.startsWith('.')) {
      const target = relative(root, resolve(root, dirname(file), specifier));
      if (!target.startsWith(`${folder}/`)) problems.push(`${file}: imports ${specifier}, outside its package`);
    } else if (specifier.startsWith('@castellan/')) {
      const target = folderOf.get(specifier);
      if (target === undefined) problems.push(`${file}: ${specifier} is not a front door of a package`);
      else if (target !== folder && !imports.includes(target)) {
        problems.push(`${file}: ${folder} may not import ${target} (layers.json)`);
      }
    }
  }
}
