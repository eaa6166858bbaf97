import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, without } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

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

/** Events of core/v1: of no more than one namespace. Cluster-scoped objects' events are in `default`. */
export const coreEventStrategy: Strategy = {
  withDefaults: (event) => ({ ...coreDefaults, ...event }),
  validate: (event): readonly FieldError[] => {
    const namespace = at(event, 'involvedObject', 'namespace') ?? '';
    const own = event.metadata.namespace ?? '';
    if (namespace === own || (namespace === '' && own === 'default')) return [];
    return [fieldError.invalid('involvedObject.namespace', namespace, 'does not match event.namespace')];
  },
};

export const eventStrategy: Strategy = {
  withDefaults: (event) => ({ ...eventsDefaults, ...event }),
};

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
