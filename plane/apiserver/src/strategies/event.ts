import { type ApiObject, without } from '../json.js';

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
