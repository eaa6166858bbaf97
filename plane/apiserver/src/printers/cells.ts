import { humanDuration } from '@castellan/machinery';
import type { ApiObject } from '../json.js';

export function nameOf(object: ApiObject): string {
  return object.metadata.name ?? '';
}

export function age(object: ApiObject, nowMs: number): string {
  return since(object.metadata.creationTimestamp, nowMs);
}

/** `5m`, or `<unknown>` where there is no time. */
export function since(timestamp: unknown, nowMs: number): string {
  const then = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(then) ? '<unknown>' : humanDuration(nowMs - then);
}
