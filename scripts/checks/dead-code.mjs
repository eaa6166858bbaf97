import { run, tool } from '../repository.mjs';

/** Files, exports and dependencies that nothing uses (knip.json says where use begins). */
export const deadCode = {
  name: 'dead code',
  async run() {
    const { code, output } = await run(tool('knip'), ['--no-progress', '--no-config-hints']);
    return { problems: code === 0 ? [] : [output.trim()] };
  },
};
