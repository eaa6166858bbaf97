import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { builtFileOf, filesOf, isTypeScript, packageFolders, root } from '../repository.mjs';

/** No file imports itself by way of others. Asked of the compiled files: imports of types alone are no cycle there. */
export const cycles = {
  name: 'cycles',
  async run() {
    const { cruise } = await import('dependency-cruiser');
    const files = packageFolders
      .flatMap(filesOf)
      .filter(isTypeScript)
      .map(builtFileOf)
      .filter((path) => existsSync(join(root, path)));
    const { output } = await cruise(files, {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }] },
      doNotFollow: { path: 'node_modules' },
      exoticRequireStrings: [],
    });
    const problems = output.summary.violations.map(
      ({ from, cycle }) => `${from} → ${(cycle ?? []).map(({ name }) => name).join(' → ')}`,
    );
    return { problems, note: `${output.summary.totalCruised} files` };
  },
};
