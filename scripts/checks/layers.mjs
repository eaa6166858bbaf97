import { run } from '../repository.mjs';

export const layers = {
  name: 'layers',
  async run() {
    const { code, output } = await run(process.execPath, ['scripts/layers.mjs']);
    return { problems: code === 0 ? [] : [output.trim()] };
  },
};
