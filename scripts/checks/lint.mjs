import { run, tool } from '../repository.mjs';

const args = [
  'check',
  '--colors=off',
  '--reporter=concise',
  '--error-on-warnings',
  '--diagnostic-level=warn',
  '--max-diagnostics=100',
  '.',
];

export const lint = {
  name: 'lint and format',
  async run() {
    const { code, output } = await run(tool('biome'), args);
    return { problems: code === 0 ? [] : [output.trim()] };
  },
};
