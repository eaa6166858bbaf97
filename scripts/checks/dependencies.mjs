import { packageFolders, read } from '../repository.mjs';

/** DEPENDENCIES.md says of each runtime dependency why it is there, and of no other. */
export const dependencies = {
  name: 'dependencies',
  async run() {
    const used = new Set(
      packageFolders
        .filter((folder) => folder.includes('/'))
        .flatMap((folder) => Object.keys(JSON.parse(read(`${folder}/package.json`)).dependencies ?? {}))
        .filter((name) => !name.startsWith('@castellan/')),
    );
    const explained = new Set([...read('DEPENDENCIES.md').matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]));
    const problems = [
      ...[...used].filter((name) => !explained.has(name)).map((name) => `${name} has no line in DEPENDENCIES.md`),
      ...[...explained]
        .filter((name) => !used.has(name))
        .map((name) => `DEPENDENCIES.md: no package depends on ${name}`),
    ];
    return { problems, note: `${used.size} at run time` };
  },
};
