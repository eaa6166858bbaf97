import { readFile } from 'node:fs/promises';
import type { Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';

export const kubeconfig: Run = async ({ dataDirectory, reporter }) => {
  const path = filesIn(dataDirectory).kubeconfig;
  const content = await readFile(path, 'utf8').catch((cause) => {
    throw new CliError('NO_PLANE', `No plane was ever started on ${dataDirectory}: there is no ${path}.`, { cause });
  });
  reporter.result({ path, kubeconfig: content }, () => content);
};
