import { humanDuration } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { type Column, column } from './column.js';

export function nameOf(object: ApiObject): string {
  return object.metadata.name ?? '';
}

export function age(object: ApiObject, nowMs: number): string {
  return since(object.metadata.creationTimestamp, nowMs);
}

export function createdAt(object: ApiObject): string {
  return object.metadata.creationTimestamp ?? '';
}

/** `5m`, or `<unknown>` where there is no time. */
export function since(timestamp: unknown, nowMs: number): string {
  const then = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(then) ? '<unknown>' : humanDuration(nowMs - then);
}

/** What is shown of objects whose kind says nothing of its own. */
export const nameAndAge: readonly Column[] = [column('Name', nameOf, { format: 'name' }), column('Age', age)];
