import { brotliDecompressSync } from 'node:zlib';
import { packedDescriptions } from './descriptions.gen.js';

/** What the API says of itself, in upstream's words. */
export interface Descriptions {
  /** Of a type, under ''; of its fields, by name. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Type and text of query parameters. */
  readonly parameters: Readonly<Record<string, readonly [type: string, text: string]>>;
  /** Query parameters of subresources that are streams: `pods/exec`. */
  readonly streams: Readonly<Record<string, readonly (readonly [name: string, type: string, text: string])[]>>;
}

/** Unpacked for each document anew (about 10 ms): nothing of them is kept while nobody asks for documents. */
export function readDescriptions(): Descriptions {
  return JSON.parse(brotliDecompressSync(Buffer.from(packedDescriptions, 'base64')).toString('utf8'));
}

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** Of the members that every object has. */
export const memberTexts = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
  metadata: `Standard object's metadata. More info: ${conventions}#metadata`,
  listMetadata: `Standard list metadata. More info: ${conventions}#types-kinds`,
  items: (plural: string) => `List of ${plural}. More info: ${conventions}`,
} as const;

/** Of the parameters that stand in paths. */
export const pathParameterTexts: Readonly<Record<string, (kind: string) => string>> = {
  name: (kind) => `name of the ${kind}`,
  namespace: () => 'object name and auth scope, such as for teams and projects',
  path: () => 'path to the resource',
};

/** Parameters that came after the table was made. */
export const newerParameters: Descriptions['parameters'] = {
  ignoreStoreReadErrorWithClusterBreakingPotential: [
    'boolean',
    'if set to true, it will trigger an unsafe deletion of the resource in case the normal deletion flow fails with a corrupt object error. The default value is false, and the user must opt in to enable it',
  ],
  shardSelector: [
    'string',
    'shardSelector restricts the list of returned objects using a CEL-based shard selector expression.',
  ],
};
