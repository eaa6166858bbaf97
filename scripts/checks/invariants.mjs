import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, isTest, isTypeScript, packageFolders, read, root } from '../repository.mjs';

/** A line that begins (after list, table or heading marks) with a number such as **K3** states an invariant. */
const statement = /^[\s>|*#-]*([A-Z]{1,3}\d+)\b/gm;
const testTitle = /\b(?:test|it|describe)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs;
/** Titles of a suite that is a table, and run for several implementations, begin with the number. */
const tableTitle = /(['"`])([A-Z]{1,3}\d+\b(?:\\.|(?!\1).)*)\1/gs;
const numbered = /\b([A-Z]{1,3})\d+\b/g;

/** Every numbered invariant of a package's SPEC.md is named by a test of that package or of the whole, and no test of the package names another. */
export const invariants = {
  name: 'invariants',
  async run() {
    const problems = [];
    let count = 0;
    const ofTheWhole = titlesIn('tests').flatMap(({ title }) => [...title.matchAll(numbered)].map(([name]) => name));
    for (const folder of packageFolders.filter((candidate) => existsSync(join(root, candidate, 'SPEC.md')))) {
      const stated = new Set([...read(`${folder}/SPEC.md`).matchAll(statement)].map((match) => match[1]));
      const prefixes = new Set([...stated].map((name) => name.replace(/\d+$/, '')));
      const titles = titlesIn(folder);
      const named = new Set(ofTheWhole);
      for (const { path, title } of titles) {
        for (const [name, prefix] of title.matchAll(numbered)) {
          named.add(name);
          if (prefixes.has(prefix) && !stated.has(name))
            problems.push(`${path}: "${title}" names ${name}, which SPEC.md lacks`);
        }
      }
      for (const name of stated)
        if (!named.has(name)) problems.push(`${folder}/SPEC.md: no test's title names ${name}`);
      count += stated.size;
    }
    return { problems, note: `${count} invariants` };
  },
};

function titlesIn(folder) {
  return filesOf(folder)
    .filter((path) => isTypeScript(path) && isTest(path))
    .flatMap((path) =>
      [testTitle, tableTitle].flatMap((titles) =>
        [...read(path).matchAll(titles)].map((match) => ({ path, title: match[2] })),
      ),
    );
}
