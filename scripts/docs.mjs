// Writes the parts of documents that are made from code: the help of each command, the table of errors, the fields of
// kinds, the API reference of each package that operators are made with.
//   node scripts/docs.mjs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { apiReference } from './api-reference.mjs';
import { replacePart } from './generated-part.mjs';
import { read, root, run } from './repository.mjs';

/** Their front doors are what a stranger programs against. */
const documentedPackages = ['certificates', 'client', 'machinery', 'runtime', 'testkit', 'world'];

export async function madeParts() {
  return [
    { file: 'docs/cli.md', part: 'help', content: await helpOfEachCommand() },
    { file: 'docs/errors.md', part: 'errors', content: await tableOfErrors() },
    { file: 'docs/kinds.md', part: 'kinds', content: await referenceOfKinds() },
    ...documentedPackages.map((name) => ({
      file: `docs/api/${name}.md`,
      part: 'api',
      content: apiReference(`core/${name}`),
    })),
  ];
}

async function helpOfEachCommand() {
  const overall = await helpOf([]);
  const sections = await Promise.all(commandsIn(overall).map((name) => sectionsOf([name])));
  return [`\`\`\`\n${overall}\n\`\`\``, ...sections.flat()].join('\n\n');
}

/** Of a command, and of those of its group where it is one. */
async function sectionsOf(command) {
  const help = await helpOf(command);
  const section = `### castellan ${command.join(' ')}\n\n\`\`\`\n${help}\n\`\`\``;
  const further = await Promise.all(commandsIn(help).map((name) => sectionsOf([...command, name])));
  return [section, ...further.flat()];
}

function commandsIn(help) {
  const [, list = ''] = help.split('\nCommands:\n');
  return [...list.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map((match) => match[1]);
}

async function helpOf(command) {
  const { code, output } = await run(process.execPath, [join(root, 'bin/castellan'), ...command, '--help']);
  if (code !== 0) throw new Error(`castellan ${command.join(' ')} --help failed:\n${output}`);
  return output.trim();
}

async function tableOfErrors() {
  const { errorTable } = await import(pathToFileURL(join(root, 'apps/cli/dist/src/errors.js')).href);
  const rows = Object.entries(errorTable).map(
    ([code, { exitCode, summary, next }]) =>
      `| \`${code}\` | ${exitCode} | ${summary} | ${next.replaceAll('|', '\\|')} |`,
  );
  return ['| code | exit status | when | what to do |', '|---|---|---|---|', ...rows].join('\n');
}

async function referenceOfKinds() {
  const { etcdClusters } = await import(pathToFileURL(join(root, 'operators/etcd/dist/src/index.js')).href);
  return [etcdClusters]
    .map((kind) => kind.document().replace(/^(#+ )/gm, '#$1'))
    .join('\n')
    .trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { file, part, content } of await madeParts()) {
    writeFileSync(join(root, file), replacePart(read(file), part, content));
    console.log(`${file}: ${part}`);
  }
}
