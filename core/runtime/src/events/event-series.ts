import { apiVersionOf, type Event, type EventV1, events, eventsV1, type KubernetesObject } from '@castellan/machinery';
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
  /** Repeats are not written before this time. */
  nextWriteMs: number;
}

export function seriesKey(component: string, about: KubernetesObject, note: EventNote): string {
  return [component, about.kind, sourceKey(about), note.type, note.reason, note.action, note.message].join('\n');
}

export function sourceKey({ metadata }: KubernetesObject): string {
  return metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** The events.k8s.io/v1 Event of a series. All but the series is said once and for all. */
export function eventOf(series: EventSeries): EventV1 {
  const { about, note, component } = series;
  const { name, namespace, uid, resourceVersion } = about.metadata;
  return {
    apiVersion: apiVersionOf(eventsV1),
    kind: eventsV1.kind,
    metadata: { name: series.name, namespace: series.namespace },
    regarding: {
      ...(about.apiVersion === undefined ? {} : { apiVersion: about.apiVersion }),
      ...(about.kind === undefined ? {} : { kind: about.kind }),
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    type: note.type,
    reason: note.reason.slice(0, longestWord),
    action: (note.action ?? 'Reconcile').slice(0, longestWord),
    note: note.message.slice(0, longestNote),
    eventTime: microTime(series.firstMs),
    reportingController: component,
    reportingInstance: component,
    ...(series.count > 1 ? repeatsOf(series) : {}),
  };
}

/** The same event as core/v1 names its fields. */
export function coreEventOf(series: EventSeries): Event {
  const { regarding = {}, note, reportingController, metadata, ...rest } = eventOf(series);
  return {
    ...rest,
    apiVersion: apiVersionOf(events),
    metadata,
    involvedObject: regarding,
    ...(note === undefined ? {} : { message: note }),
    ...(reportingController === undefined ? {} : { reportingComponent: reportingController }),
  };
}

/** What a repeat changes. A series has two events at least. */
export function repeatsOf({ count, lastMs }: EventSeries): Pick<EventV1, 'series'> {
  return { series: { count, lastObservedTime: microTime(lastMs) } };
}

/** The longest that a server takes. Source: validation of events.k8s.io/v1. */
const longestWord = 128;
const longestNote = 1_024;

/** RFC 3339 with microseconds, as metav1.MicroTime. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
