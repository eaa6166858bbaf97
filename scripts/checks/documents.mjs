import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { madeParts } from '../docs.mjs';
import { partOf } from '../generated-part.mjs';
import { filesOf, packageFolders, read, root } from '../repository.mjs';

const longestWalk = 10;

/** Documents say what is so: links lead somewhere, the walk is unbroken, and what is made from code was made anew. */
export const documents = {
  name: 'documents',
  async run() {
    const made = await madeParts();
    const stale = made
      .filter(({ file, part, content }) => partOf(read(file), part) !== content.trim())
      .map(({ file, part }) => `${file}: the part "${part}" is out of date; next: node scripts/docs.mjs`);
    return { problems: [...stale, ...brokenLinks(), ...brokenWalk()] };
  },
};

function brokenLinks() {
  const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'DEPENDENCIES.md']
    .concat([...packageFolders, 'docs'].flatMap(filesOf))
    .filter((path) => path.endsWith('.md'));
  return pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
      .map((match) => normalize(join(dirname(page), match[1])))
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${page}: links to ${target}, which does not exist`),
  );
}

/** Each file of the walk says where it stands: `// Walk 3/10: …`. */
function brokenWalk() {
  const section =
    read('ARCHITECTURE.md')
      .split(/^## /m)
      .find((text) => text.startsWith('The walk')) ?? '';
  const stations = [...section.matchAll(/^\d+\. \[[^\]]*\]\(([^)]+)\)/gm)].map((match) => match[1]);
  if (stations.length === 0) return ['ARCHITECTURE.md: no walk found under "## The walk"'];
  const problems =
    stations.length > longestWalk ? [`ARCHITECTURE.md: the walk has more than ${longestWalk} files`] : [];
  stations.forEach((path, at) => {
    const mark = `// Walk ${at + 1}/${stations.length}:`;
    if (existsSync(join(root, path)) && !read(path).includes(mark)) problems.push(`${path}: does not say "${mark} …"`);
  });
  return problems;
}
