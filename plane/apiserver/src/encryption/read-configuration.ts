import { readFile } from 'node:fs/promises';
import type { Encryption } from './encryption.js';
import { EncryptionConfigurationError } from './encryption-configuration-error.js';

/**
 * Reads the file of `--encryption-provider-config`; `parseEncryptionConfiguration` says what is in it.
 *
 * @throws EncryptionConfigurationError
 */
export async function readEncryptionConfiguration(path: string): Promise<Encryption> {
  const source = await readFile(path, 'utf8').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EncryptionConfigurationError(`it cannot be read: ${reason}`);
  });
  // Only planes that encrypt pay for it.
  const { parseEncryptionConfiguration } = await import('./encryption-configuration.js');
  return parseEncryptionConfiguration(source);
}
