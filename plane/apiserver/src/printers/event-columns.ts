import { type ApiObject, at, count, record, text } from '../json.js';
import { nameOf, since } from './cells.js';
import { type Column, column } from './column.js';

/** Of core/v1 events and, by their other names, of events.k8s.io/v1. */
export const eventColumns: readonly Column[] = [
  column('Last Seen', lastSeen),
  column('Type', (event) => text(event.type) ?? ''),
  column('Reason', (event) => text(event.reason) ?? ''),
  column('Object', (event) => {
    const { kind, name } = record(event.involvedObject ?? event.regarding);
    return `${(text(kind) ?? '').toLowerCase()}/${text(name) ?? ''}`;
  }),
  column('Subobject', (event) => text(record(event.involvedObject ?? event.regarding).fieldPath) ?? '', {
    priority: 1,
  }),
  column('Source', source, { priority: 1 }),
  column('Message', (event) => (text(event.message ?? event.note) ?? '').trim()),
  column('First Seen', firstSeen, { priority: 1 }),
  column('Count', occurrences, { priority: 1 }),
  column('Name', nameOf, { format: 'name', priority: 1 }),
];

/** `5m` or, of what happened more than once, `5m (x3 over 2h)`. */
function lastSeen(event: ApiObject, nowMs: number): string {
  const times = occurrences(event);
  const last =
    at(event, 'series', 'lastObservedTime') ?? event.lastTimestamp ?? event.deprecatedLastTimestamp ?? event.eventTime;
  const shown = since(last, nowMs);
  return times > 1 ? `${shown} (x${times} over ${firstSeen(event, nowMs)})` : shown;
}

function firstSeen(event: ApiObject, nowMs: number): string {
  return since(event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime, nowMs);
}

function occurrences(event: ApiObject): number {
  return count(at(event, 'series', 'count')) ?? count(event.count ?? event.deprecatedCount) ?? 1;
}

function source(event: ApiObject): string {
  const { component, host } = record(event.source ?? event.deprecatedSource);
  const reporter = text(component) ?? text(event.reportingComponent ?? event.reportingController) ?? '';
  const instance = text(host) ?? text(event.reportingInstance) ?? '';
  return instance === '' ? reporter : `${reporter}, ${instance}`;
}
