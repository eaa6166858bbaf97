import { readFile } from 'node:fs/promises';
import type { Context, Options } from '../context.js';
import { CliError } from '../errors.js';
import { type ManifestObject, parseManifest } from './parse-manifest.js';

/** The objects of the file that `--file` names; `-` is standard input. */
export async function readManifest(context: Context, options: Options): Promise<readonly ManifestObject[]> {
  const name = String(options.file);
  if (name === '-') return parseManifest(await context.readStandardInput(), 'standard input');
  const path = context.resolvePath(name);
  const text = await readFile(path, 'utf8').catch((cause) => {
    throw new CliError('FILE_NOT_READABLE', `${path} cannot be read: ${cause.message}.`, { cause });
  });
  return parseManifest(text, name);
}
