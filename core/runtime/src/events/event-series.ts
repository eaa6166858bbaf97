import { apiVersionOf, type Event, type KubernetesObject } from '@castellan/machinery';
import type { EventNote } from '../controller.js';

/** One event and its repeats: one object of the API whose count grows. */
export interface EventSeries {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly about: KubernetesObject;
  readonly note: EventNote;
  readonly component: string;
  readonly firstMs: number;
  lastMs: number;
  count: number;
  /** The object is there as far as we know. */
  isWritten: boolean;
  /** It is to be written, and waits in the writer's queue. */
  isQueued: boolean;
}

export function seriesKey(component: string, about: KubernetesObject, note: EventNote): string {
  return [component, about.kind, sourceKey(about), note.type, note.reason, note.message].join('\n');
}

export function sourceKey({ metadata }: KubernetesObject): string {
  return metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** The core/v1 Event of a series' first occurrence. */
export function eventOf(series: EventSeries): Event {
  const { about, note, component } = series;
  const { name, namespace, uid, resourceVersion } = about.metadata;
  return {
    apiVersion: apiVersionOf({ group: '', version: 'v1' }),
    kind: 'Event',
    metadata: { name: series.name, namespace: series.namespace },
    involvedObject: {
      ...(about.apiVersion === undefined ? {} : { apiVersion: about.apiVersion }),
      ...(about.kind === undefined ? {} : { kind: about.kind }),
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    type: note.type,
    reason: note.reason,
    message: note.message.slice(0, 1_024),
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
    firstTimestamp: timestamp(series.firstMs),
    ...repeatsOf(series),
  };
}

/** What a repeat changes. */
export function repeatsOf(series: EventSeries): { readonly count: number; readonly lastTimestamp: string } {
  return { count: series.count, lastTimestamp: timestamp(series.lastMs) };
}

/** RFC 3339 in whole seconds, as metav1.Time. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
