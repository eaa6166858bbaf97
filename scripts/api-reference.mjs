// The API reference of a package: what its front door exports, as the compiler declares it (dist/src/**/*.d.ts).
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { read, root } from './repository.mjs';

/** The exports by area, which is the folder in src, each with its kind, its source, its doc comment and its declaration. */
export function apiReference(folder) {
  const found = exportsOf(folder).toSorted(byName);
  const areas = [...new Set(found.map(({ source }) => dirname(source)))].toSorted();
  const slug = slugs();
  const sections = areas.map((area) => {
    const title = area === '.' ? 'General' : area;
    slug(title);
    const own = found.filter(({ source }) => dirname(source) === area);
    const names = own.map(({ name }) => `[${name}](#${slug(name)})`).join(' · ');
    return [`## ${title}`, names, ...own.map((entry) => sectionOf(folder, entry))].join('\n\n');
  });
  return sections.join('\n\n');
}

/** Anchors of headings in their order: the second of a name, in whatever case, has `-1` behind it, as GitHub gives it. */
function slugs() {
  const counts = new Map();
  return (heading) => {
    const base = heading.toLowerCase();
    const count = counts.get(base) ?? 0;
    counts.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
}

/** Without regard to case; of two that differ in nothing else the type comes first. */
const sortKey = ({ name }) => `${name.toLowerCase()} ${name}`;
const byName = (one, other) => (sortKey(one) < sortKey(other) ? -1 : 1);

function exportsOf(folder) {
  return reExports(read(`${folder}/src/index.ts`)).map(({ name, original, path }) => {
    const found = declarationsOf(folder, path, original);
    if (found.statements.length === 0) throw new Error(`${folder}: no declaration of ${name} in ${path}`);
    return { name, original, ...found };
  });
}

/** `export { type A, b as c } from './d.js'` of a module. */
function reExports(text) {
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '\.\/([^']+)\.js';/gm)].flatMap(([, names, path]) =>
    names
      .split(',')
      .map((entry) => entry.trim().replace(/^type /, ''))
      .filter((entry) => entry !== '')
      .map((entry) => {
        const [original, name = original] = entry.split(' as ');
        return { name, original, path };
      }),
  );
}

/** Overloads, and a type with a value of its name, are several declarations of one name. */
function declarationsOf(folder, path, name) {
  const file = `${folder}/dist/src/${path}.d.ts`;
  if (!existsSync(join(root, file))) throw new Error(`${file} is not there: npx tsc -b makes it`);
  const text = read(file);
  const statements = statementsOf(text).filter((statement) => statement.name === name);
  const elsewhere = reExports(text).find((entry) => entry.name === name);
  if (statements.length > 0 || elsewhere === undefined) return { source: `${path}.ts`, statements };
  return declarationsOf(folder, normalize(join(dirname(path), elsewhere.path)), elsewhere.original);
}

const heading = /^export (?:declare )?(?:abstract )?(interface|type|class|const|let|function|enum) ([A-Za-z_$][\w$]*)/;

/** In declarations as the compiler writes them, what begins at the margin begins a statement, except a closing bracket. */
function statementsOf(text) {
  const blocks = [];
  let isComment = false;
  for (const line of text.split('\n')) {
    const begins = /^(export|declare|import|\/\*\*)/.test(line) && !isComment;
    if (begins) blocks.push([line]);
    else blocks.at(-1)?.push(line);
    if (line.startsWith('/**')) isComment = true;
    if (isComment && line.includes('*/')) isComment = false;
  }
  return blocks.flatMap((lines, at) => {
    const [, kind, name] = heading.exec(lines[0]) ?? [];
    if (kind === undefined) return [];
    const before = blocks[at - 1] ?? [];
    const comment = before[0]?.startsWith('/**') ? before.join('\n') : undefined;
    return [{ kind, name, comment, code: lines.join('\n').trim() }];
  });
}

function sectionOf(folder, { name, original, source, statements }) {
  const kinds = [...new Set(statements.map(({ kind }) => kind))].join(' and ');
  const alias = name === original ? '' : `, exported as \`${name}\``;
  const comments = statements.flatMap(({ comment }) => (comment === undefined ? [] : [proseOf(comment)]));
  const code = statements.map(({ code: declared }) => shown(declared)).join('\n');
  return [
    `### ${name}`,
    `${kinds}${alias} · [${source}](../../${folder}/src/${source})`,
    ...new Set(comments),
    `\`\`\`ts\n${code}\n\`\`\``,
  ].join('\n\n');
}

function proseOf(comment) {
  const text = comment
    .replace(/^\/\*\*\s?/, '')
    .replace(/\s*\*\/\s*$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
  return text.replace(/^@(\w+)\s*/gm, '\n*$1*: ').trim();
}

/** Without what only the compiler needs, and indented as our sources are. */
function shown(code) {
  return code
    .replace(/^export (declare )?/, '')
    .split('\n')
    .filter((line) => !/^\s*(#private;|private\b)/.test(line))
    .map((line) => line.replace(/^ +/, (indent) => ' '.repeat(indent.length - Math.floor(indent.length / 4) * 2)))
    .join('\n');
}
