import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { repository, run } from './plane-process.js';

const linked = [
  ...['certificates', 'client', 'machinery', 'runtime', 'testkit', 'world'].map((name) => [
    `@castellan/${name}`,
    `core/${name}`,
  ]),
  ['@types/node', 'node_modules/@types/node'],
] as const;

const options = {
  target: 'ES2023',
  module: 'NodeNext',
  lib: ['ES2024', 'ESNext.Disposable'],
  types: ['node'],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
};

/** Pages whose pieces of TypeScript are to compile, all pieces of a page as one module. */
async function pagesWithExamples(): Promise<readonly string[]> {
  const nouns = await readdir(join(repository, 'docs/nouns'));
  return [
    ...nouns.map((name) => `docs/nouns/${name}`),
    ...[
      'docs/from-controller-runtime.md',
      'docs/from-client-node.md',
      'core/client/README.md',
      'core/machinery/README.md',
      'core/world/README.md',
    ],
  ];
}

test('the examples of the documents compile against the packages as they are', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-documents-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const [packageName = '', path = ''] of linked) {
    const link = join(directory, 'node_modules', packageName);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(repository, path), link);
  }
  let count = 0;
  for (const page of await pagesWithExamples()) {
    const text = await readFile(join(repository, page), 'utf8');
    const pieces = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
    if (pieces.length === 0) continue;
    count += pieces.length;
    // A noun's module may be imported by other pages; a README is named for its package.
    const name = basename(page) === 'README.md' ? basename(dirname(page)) : basename(page, '.md');
    await writeFile(join(directory, `${name}.ts`), `${pieces.join('\n')}\nexport {};\n`);
  }
  assert.ok(count >= 20, `${count} pieces of code`);
  await writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }));
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  const compiled = await run(process.execPath, [compiler, '-p', directory]);
  assert.equal(compiled.code, 0, compiled.stdout + compiled.stderr);
});
