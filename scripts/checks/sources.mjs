import { filesOf, isTest, isTypeScript, packageFolders, read } from '../repository.mjs';

const longFile = 400;

/** Where time, chance, network and processes come in through World only. */
const deterministic = /^(core\/runtime|plane\/controllers|plane\/scheduler|operators\/[^/]+)\//;
const nondeterministic = /\b(Date\.now|setTimeout|setInterval|Math\.random|fetch|spawn)\s*\(|\bnew Date\(\)/;

/** What a reader should never find in a source, and what only a hint is given about. */
export const sources = {
  name: 'sources',
  async run() {
    const problems = [];
    const warnings = [];
    const paths = [...packageFolders, 'scripts', 'bench']
      .flatMap(filesOf)
      .filter((path) => isTypeScript(path) || path.endsWith('.mjs'));
    for (const path of paths.filter((candidate) => candidate !== 'scripts/checks/sources.mjs')) {
      const lines = read(path).split('\n');
      lines.forEach((line, at) => {
        const place = `${path}:${at + 1}`;
        if (/\b(TODO|FIXME|XXX)\b/.test(line)) problems.push(`${place}: do it, or say in the design why not`);
        if (isTest(path) && /\b(test|it|describe)\.only\(/.test(line))
          problems.push(`${place}: .only hides the other tests`);
        if (deterministic.test(path) && !isTest(path) && nondeterministic.test(withoutComment(line))) {
          problems.push(`${place}: ${line.trim()} — take it from World`);
        }
      });
      if (lines.length > longFile && !path.endsWith('.gen.ts')) warnings.push(`${path} has ${lines.length} lines`);
    }
    return { problems, warnings, note: `${paths.length} files` };
  },
};

function withoutComment(line) {
  return /^\s*(\/\/|\*|\/\*)/.test(line) ? '' : line.replace(/\s\/\/ .*$/, '');
}
