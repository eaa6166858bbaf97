import { plainValues, type ValueTransformer } from './value-transformer.js';

/** How each resource's objects are sealed in the keyspace. */
export interface Encryption {
  transformerOf(resource: { readonly group: string; readonly plural: string }): ValueTransformer;
}

export const noEncryption: Encryption = { transformerOf: () => plainValues };
