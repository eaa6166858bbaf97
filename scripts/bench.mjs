// npm run bench: the figures of README.md, measured on this machine against a peer in the same run.
//   npm run bench                 all of bench/
//   npm run bench -- start        the files whose name contains one of the words
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root, run } from './repository.mjs';
import { setup } from './setup.mjs';

const deadlineMs = 900_000;

await setup();

const words = process.argv.slice(2);
const files = readdirSync(join(root, 'bench')).filter(
  (name) => name.endsWith('.mjs') && (words.length === 0 || words.some((word) => name.includes(word))),
);
if (files.length === 0) fail(`bench/ has no file whose name contains ${words.join(' or ')}.\nNext: npm run bench`);
let failures = 0;
for (const file of files.sort()) {
  console.log(`\n${file}`);
  const { code } = await run(process.execPath, [join('bench', file)], { isShown: true, deadlineMs });
  if (code !== 0) failures += 1;
}
if (failures > 0) fail(`${failures} of ${files.length} did not finish (see above).`);
