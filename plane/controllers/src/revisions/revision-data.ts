import { deepEqual, goJson, isList, isRecord, type PodTemplateSpec } from '@castellan/machinery';
import { safeHash } from './safe-hash.js';

/** A strategic merge patch that gives a workload this template, as `kubectl rollout undo` sends it. */
export interface TemplatePatch {
  readonly spec: { readonly template: PodTemplateSpec & { readonly $patch: 'replace' } };
}

/** What a revision of a workload keeps: its template, as a patch that brings it back. */
export function patchTo(template: PodTemplateSpec): TemplatePatch {
  return { spec: { template: { ...template, $patch: 'replace' } } };
}

/** The template that a revision keeps; `undefined` when its data is nothing that `patchTo` made. */
export function templateOf(data: unknown): PodTemplateSpec | undefined {
  if (!isTemplatePatch(data)) return undefined;
  const { $patch: _, ...template } = data.spec.template;
  return template;
}

/** Names data; another `collisionCount` gives another name to the same data. Source: upstream's HashControllerRevision. */
export function revisionHash(data: unknown, collisionCount: number): string {
  return safeHash(`${goJson(data)}${collisionCount}`);
}

/** Whether two revisions bring back the same: fields that are null (older servers wrote creation times so) say nothing. */
export function isSameData(a: unknown, b: unknown): boolean {
  return deepEqual(withoutNulls(a), withoutNulls(b));
}

function isTemplatePatch(data: unknown): data is TemplatePatch {
  return isRecord(data) && isRecord(data.spec) && isRecord(data.spec.template);
}

function withoutNulls(value: unknown): unknown {
  if (isList(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const said = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(said.map(([name, field]) => [name, withoutNulls(field)]));
}
