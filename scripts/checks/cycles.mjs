import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtFileOf, filesOf, isTypeScript, packageFolders, read, root } from '../repository.mjs';

/**
 * No file imports itself by way of others. Compiled files show it across packages; the sources of each package show it with
 * imports of types as well, which are gone after compilation.
 */
export const cycles = {
  name: 'cycles',
  async run() {
    const sources = packageFolders.map((folder) => filesOf(folder).filter(isTypeScript));
    const { problems, cruised } = await circlesOfPrograms(sources.flat());
    return {
      problems: [...problems, ...sources.map(circlesOfSources).filter((text) => text !== '')],
      note: `${cruised} files`,
    };
  },
};

async function circlesOfPrograms(sources) {
  const { cruise } = await import('dependency-cruiser');
  const files = sources.map(builtFileOf).filter((path) => existsSync(join(root, path)));
  const { output } = await cruise(files, {
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }] },
    doNotFollow: { path: 'node_modules' },
    exoticRequireStrings: [],
  });
  const problems = output.summary.violations.map(
    ({ from, cycle }) => `${from} → ${(cycle ?? []).map(({ name }) => name).join(' → ')}`,
  );
  return { problems, cruised: output.summary.totalCruised };
}

/** The files of a package that stand in a circle or between two; '' if there is none. */
function circlesOfSources(sources) {
  const left = new Map(sources.map((source) => [source, importsOf(source)]));
  const without = (isFree) => {
    const free = [...left.keys()].filter(isFree);
    for (const source of free) left.delete(source);
    return free.length > 0;
  };
  while (without((source) => !left.get(source).some((imported) => left.has(imported))));
  while (without((source) => ![...left.values()].some((imported) => imported.includes(source))));
  return left.size === 0 ? '' : `imports of types form a circle among ${[...left.keys()].join(', ')}`;
}

function importsOf(source) {
  const imports = read(source).matchAll(/\b(?:from |import ?\(?)'(\.[^']+)\.js'/g);
  return [...imports].map(([, path]) => join(dirname(source), `${path}.ts`));
}
