/** The file is not an EncryptionConfiguration that can be used. The message has a line for each thing that is wrong. */
export class EncryptionConfigurationError extends Error {
  override readonly name = 'EncryptionConfigurationError';
  readonly code = 'ENCRYPTION_CONFIGURATION';
}
