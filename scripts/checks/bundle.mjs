import { build, isBuilt } from '../build.mjs';

/** The program as people run it is up to date: the check of its help asks the built one. */
export const bundle = {
  name: 'bundle',
  async run() {
    if (!isBuilt()) await build();
    return { problems: isBuilt() ? [] : ['a source changed while it was built; next: npm run check again'] };
  },
};
