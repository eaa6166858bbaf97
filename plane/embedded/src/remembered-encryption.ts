import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DecryptionError,
  type Encryption,
  EncryptionConfigurationError,
  readEncryptionConfiguration,
} from '@castellan/apiserver';

/** The objects of the data directory cannot be sealed or opened as this start was told. */
export class EncryptionError extends Error {
  override readonly name = 'EncryptionError';
  readonly code = 'ENCRYPTION';
}

/**
 * How this data directory's objects are sealed: by the configuration file that was asked for, else by the one that was used
 * before. Its path is written down, so that a start which forgets the option still seals what it writes. To end encryption,
 * name `identity` first in the file.
 *
 * @throws EncryptionError
 */
export async function rememberEncryption(
  dataDirectory: string,
  asked: string | undefined,
): Promise<Encryption | undefined> {
  const memory = join(dataDirectory, 'encryption.json');
  const path = asked ?? parsePath(await readFile(memory, 'utf8').catch(() => undefined));
  if (path === undefined) return undefined;
  const encryption = await readEncryptionConfiguration(path).catch((error: unknown) => {
    if (!(error instanceof EncryptionConfigurationError)) throw error;
    const next = 'correct it, or name another with `--encryption-provider-config FILE`';
    throw new EncryptionError(`${path} is not a usable encryption configuration: ${error.message}; next: ${next}`, {
      cause: error,
    });
  });
  if (asked !== undefined) await writeFile(memory, `${JSON.stringify({ configuration: path }, null, 2)}\n`);
  return encryption;
}

/** What the API server says of objects that it cannot open, with what to do. */
export function explainDecryption(error: unknown): never {
  if (!(error instanceof DecryptionError)) throw error;
  const next = 'start with `--encryption-provider-config FILE` whose keys were used to write them';
  throw new EncryptionError(`there are objects that cannot be decrypted: ${error.message}; next: ${next}`, {
    cause: error,
  });
}

function parsePath(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  const isKnown = typeof value === 'object' && value !== null && 'configuration' in value;
  return isKnown ? String(value.configuration) : undefined;
}
