import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';

/** The example that new operators are copies of: what is tested there is what people get. */
const example = { directory: 'memcached-operator', image: 'memcached:1.6', nextImage: 'memcached:1.7', port: '11211' };
const longestName = 40;

/** `castellan new operator NAME`: a project with a kind, a planner, a model, tests, a simulation and a program. */
export const newProject: Run = async (context, options) => {
  const [what, name = ''] = Array.isArray(options.arguments) ? options.arguments.map(String) : [];
  if (what !== 'operator') {
    throw new CliError('USAGE', `Nothing is known of a new ${what}.`, { next: '`castellan new operator NAME`' });
  }
  if (!/^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(name) || name.length > longestName) {
    throw new CliError('USAGE', `${JSON.stringify(name)} cannot name an operator.`, {
      next: `take at most ${longestName} of a–z, 0–9 and -, beginning with a letter`,
    });
  }
  const directory = context.resolvePath(typeof options.dir === 'string' ? options.dir : `${name}-operator`);
  if (existsSync(directory) && (await readdir(directory)).length > 0) {
    throw new CliError('USAGE', `${directory} is not empty.`, { next: 'name another with --dir' });
  }
  const isExample = `${name}-operator` === example.directory;
  const image = options.image ?? (isExample ? example.image : `${name}:latest`);
  const replacements = replacementsFor({
    name,
    group: String(options.group ?? 'example.com'),
    image: String(image),
    port: String(options.containerPort ?? (isExample ? example.port : '8080')),
  });
  await copyExample(join(context.examplesDirectory, example.directory), directory, replacements);
  await rename(join(directory, 'manifests/memcached.yaml'), join(directory, `manifests/${name}.yaml`));
  const isLinked = await linkPackages(context, directory);
  const shown = relative(context.resolvePath('.'), directory) || '.';
  context.reporter.result({ directory, name }, () => nextSteps(shown, name, { isLinked, ...context }));
};

/** Text of the example and what stands in its place; longer ones first, as some contain others. */
type Replacements = readonly (readonly [text: string, replacement: string])[];

function replacementsFor(project: {
  readonly name: string;
  readonly group: string;
  readonly image: string;
  readonly port: string;
}): Replacements {
  const words = project.name.split('-');
  const kind = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const identifier = kind.charAt(0).toLowerCase() + kind.slice(1);
  return [
    [example.image, project.image],
    [example.nextImage, nextOf(project.image)],
    [example.port, project.port],
    ['example.com', project.group],
    ['memcachedOperator', `${identifier}Operator`],
    ['memcacheds', `${identifier}s`],
    ['Memcached', kind],
    ['memcached', project.name],
  ];
}

/** Another tag of the same image, for tests of a change. */
function nextOf(image: string): string {
  const colon = image.lastIndexOf(':');
  return `${colon > image.lastIndexOf('/') ? image.slice(0, colon) : image}:next`;
}

async function copyExample(from: string, to: string, replacements: Replacements): Promise<void> {
  await mkdir(to, { recursive: true });
  const isOurs = (path: string) => !/(^|\/)(node_modules|dist)(\/|$)/.test(relative(from, path));
  await cp(from, to, { recursive: true, filter: isOurs });
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    await writeFile(path, replaceAll(await readFile(path, 'utf8'), replacements));
  }
}

/** In one pass, so that a replacement is not replaced again. */
function replaceAll(text: string, replacements: Replacements): string {
  const byText = new Map(replacements);
  const pattern = replacements.map(([each]) => each.replaceAll('.', '\\.')).join('|');
  return text.replaceAll(new RegExp(pattern, 'g'), (found) => byText.get(found) ?? found);
}

/** Run from its sources, this program knows where the packages are; installed, npm finds them by their names. */
async function linkPackages({ examplesDirectory }: Context, directory: string): Promise<boolean> {
  const core = join(examplesDirectory, '..', 'core');
  if (!existsSync(join(core, 'runtime/package.json'))) return false;
  const path = join(directory, 'package.json');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replaceAll(/"@castellan\/(\w+)": "[^"]*"/g, `"@castellan/$1": "file:${core}/$1"`));
  return true;
}

function nextSteps(
  directory: string,
  name: string,
  { isLinked, programName, dataDirectory }: Context & { isLinked: boolean },
): string {
  return [
    `${directory}  is an operator of its own: a kind, a planner, its model, tests`,
    ...(isLinked ? ["its packages are those of this program's sources"] : []),
    '',
    'next',
    `  cd ${directory} && npm install && npm test      compiled, explored, simulated`,
    `  ${programName} up --detach                       a plane to run it on`,
    `  KUBECONFIG=${filesIn(dataDirectory).kubeconfig} npm start`,
    `  kubectl apply -f manifests/${name}.yaml`,
  ].join('\n');
}
