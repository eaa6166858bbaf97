import { canonicalJson, deepEqual, type PodTemplateSpec } from '@castellan/machinery';
import { safeHash } from '../revisions/safe-hash.js';

export const templateHashLabel = 'pod-template-hash';

/**
 * Names a template in the names of ReplicaSets and in the labels of pods. `collisions` makes another hash of the same
 * template, for when the name is taken by another one. Not upstream's hash, which is of how Go prints its structures.
 */
export function templateHash(template: PodTemplateSpec, collisions = 0): string {
  return safeHash(`${canonicalJson(template)}${collisions}`);
}

/** Whether two templates make the same pods, but for the label that tells them apart. */
export function isSameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return deepEqual(withoutHash(a), withoutHash(b));
}

function withoutHash(template: PodTemplateSpec = {}): PodTemplateSpec {
  const { [templateHashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}
