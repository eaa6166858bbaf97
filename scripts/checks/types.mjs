import { run, tool } from '../repository.mjs';

export const types = {
  name: 'types',
  async run() {
    const { code, output } = await run(tool('tsc'), ['-b', '--pretty', 'false']);
    return { problems: code === 0 ? [] : [output.trim()] };
  },
};
