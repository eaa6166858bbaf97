import { deepEqual, type FieldError, fieldError, invalidError, qualifiedNameErrors } from '@castellan/machinery';
import { type ApiObject, at, count, record, text, without } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

const longestWord = 128;
const longestNote = 1024;

/** Names of one field in core/v1 and in events.k8s.io/v1. Source: the conversion of the two Event types. */
const renamed: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

/** What an event has even when nobody said it; Go writes these without a value. */
const coreDefaults = {
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
const eventsDefaults = {
  eventTime: null,
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

/** Events of core/v1. */
export const coreEventStrategy: Strategy = {
  withDefaults: (event) => ({ ...coreDefaults, ...event }),
  validate: (event) => commonErrors(event, 'reportingComponent'),
};

/** Events of events.k8s.io/v1, which insist on more. What is wrong is said of the core kind and its fields. */
export const eventStrategy: Strategy = {
  withDefaults: (event) => ({ ...eventsDefaults, ...event }),
  validate(event, current) {
    const core = eventConversion.toStorage(event);
    const errors =
      current === undefined
        ? [...commonErrors(core, 'reportingController'), ...newErrors(core)]
        : [...changeErrors(core, eventConversion.toStorage(current))];
    if (errors.length > 0) throw invalidError({ group: '', kind: 'Event' }, event.metadata.name ?? '', errors);
    return [];
  },
};

/** What holds for events of both groups; those with an eventTime are of the newer form. */
function commonErrors(event: ApiObject, reporterField: string): readonly FieldError[] {
  const namespace = text(at(event, 'involvedObject', 'namespace')) ?? '';
  const own = event.metadata.namespace ?? '';
  const path = 'involvedObject.namespace';
  if (typeof event.eventTime !== 'string') {
    const isRight = namespace === own || (namespace === '' && own === 'default');
    return isRight ? [] : [fieldError.invalid(path, namespace, 'does not match event.namespace')];
  }
  const reporter = text(event.reportingComponent) ?? '';
  const isLost = namespace === '' && own !== 'default' && own !== 'kube-system';
  return [
    ...(isLost ? [fieldError.invalid(path, '', 'does not match event.namespace')] : []),
    ...(reporter === '' ? [fieldError.required(reporterField)] : []),
    ...qualifiedNameErrors(reporter).map((problem) => fieldError.invalid(reporterField, reporter, problem)),
    ...['reportingInstance', 'action', 'reason'].flatMap((field) => {
      const value = text(event[field]) ?? '';
      if (value === '') return [fieldError.required(field)];
      return value.length > longestWord ? [tooLong(field, longestWord)] : [];
    }),
    ...((text(event.message) ?? '').length > longestNote ? [tooLong('message', longestNote)] : []),
  ];
}

function tooLong(field: string, limit: number): FieldError {
  return fieldError.invalid(field, '', `can have at most ${limit} characters`);
}

/** What a new event of events.k8s.io/v1 must and must not have. */
function newErrors(event: ApiObject): readonly FieldError[] {
  const { component, host } = record(event.source);
  const unset = (field: string, isSet: boolean) => (isSet ? [fieldError.invalid(field, '', 'needs to be unset')] : []);
  const type = text(event.type) ?? '';
  return [
    ...seriesErrors(event.series),
    ...(typeof event.eventTime === 'string' ? [] : [fieldError.required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [fieldError.invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', typeof event.firstTimestamp === 'string'),
    ...unset('lastTimestamp', typeof event.lastTimestamp === 'string'),
    ...unset('count', (count(event.count) ?? 0) !== 0),
    ...unset('source', (text(component) ?? '') !== '' || (text(host) ?? '') !== ''),
  ];
}

function seriesErrors(series: unknown): readonly FieldError[] {
  if (series === undefined) return [];
  const { count: times, lastObservedTime } = record(series);
  return [
    ...((count(times) ?? 0) < 2 ? [fieldError.invalid('series.count', '', 'should be at least 2')] : []),
    ...(typeof lastObservedTime === 'string' ? [] : [fieldError.required('series.lastObservedTime')]),
  ];
}

/** An event of events.k8s.io/v1 says once what happened; only how often may change. */
const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
];

function changeErrors(event: ApiObject, current: ApiObject): readonly FieldError[] {
  const fixed = fixedFields.flatMap((field) => {
    const stored = field === 'reportingController' ? 'reportingComponent' : field;
    if (deepEqual(event[stored], current[stored])) return [];
    return [fieldError.invalid(field, event[stored] ?? '', 'field is immutable')];
  });
  return [...fixed, ...seriesErrors(event.series)];
}

/** Both groups' events are one resource, stored as core/v1. */
export const eventConversion = {
  fromStorage: (object: ApiObject): ApiObject => convert(object, 'events.k8s.io/v1', renamed),
  toStorage: (object: ApiObject): ApiObject =>
    convert(
      object,
      'v1',
      renamed.map(([core, events]) => [events, core] as const),
    ),
};

function convert(object: ApiObject, apiVersion: string, names: readonly (readonly [string, string])[]): ApiObject {
  const moved = names.filter(([from]) => Object.hasOwn(object, from)).map(([from, to]) => [to, object[from]] as const);
  const rest = without(object, ...names.map(([from]) => from));
  return { ...rest, apiVersion, metadata: object.metadata, ...Object.fromEntries(moved) };
}
