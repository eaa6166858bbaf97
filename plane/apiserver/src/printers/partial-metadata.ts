import type { ApiObject } from '../json.js';

/** What the garbage collector and metadata informers ask for. `version` is that of meta.k8s.io. */
export function partialMetadata(object: ApiObject, version: string) {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}
