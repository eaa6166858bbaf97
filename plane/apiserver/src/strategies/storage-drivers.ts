import { deepEqual, type FieldError, fieldError, parseQuantity } from '@castellan/machinery';
import { type ApiObject, at, count, type JsonRecord, list, record, records, text, without } from '../json.js';
import {
  csiDriverNameErrors,
  notNegative,
  oneOfOrUnset,
  qualifiedErrors,
  requiredText,
  subdomainErrors,
} from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { driverNameErrors, parameterErrors } from './class-parameters.js';
import { selectorErrors } from './label-selector.js';

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];
const longestNodeId = 256;

/** What a driver is taken to be when it does not say. Source: the defaults of storage.k8s.io/v1. */
const driverDefaults = {
  attachRequired: true,
  podInfoOnMount: false,
  volumeLifecycleModes: ['Persistent'],
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
  seLinuxMount: false,
} as const;

export const csiDriverStrategy: Strategy = {
  withDefaults: (driver) => ({ ...driver, spec: { ...driverDefaults, ...record(driver.spec) } }),
  validate: ({ spec }) => {
    const { fsGroupPolicy, tokenRequests, volumeLifecycleModes, nodeAllocatableUpdatePeriodSeconds } = record(spec);
    const period = count(nodeAllocatableUpdatePeriodSeconds);
    const periodPath = 'spec.nodeAllocatableUpdatePeriodSeconds';
    return [
      ...oneOfOrUnset(fsGroupPolicy, groupPolicies, 'spec.fsGroupPolicy'),
      ...tokenErrors(records(tokenRequests), 'spec.tokenRequests'),
      ...list(volumeLifecycleModes).flatMap((mode) => oneOfOrUnset(mode, lifecycleModes, 'spec.volumeLifecycleModes')),
      ...(period !== undefined && period < 10
        ? [fieldError.invalid(periodPath, period, 'must be greater than or equal to 10 seconds')]
        : []),
    ];
  },
  validateUpdate: (driver, current) => [
    ...fixed(driver, current, 'attachRequired', 'spec.attachedRequired'),
    ...fixed(driver, current, 'volumeLifecycleModes', 'spec.volumeLifecycleModes'),
  ],
};

/** Tokens of pods that the driver wants, one for each audience. */
function tokenErrors(requests: readonly JsonRecord[], path: string): readonly FieldError[] {
  const audiences = requests.map(({ audience }) => text(audience) ?? '');
  return requests.flatMap(({ expirationSeconds }, index) => {
    const audience = audiences[index] ?? '';
    if (audiences.indexOf(audience) < index) return [fieldError.duplicate(`${path}[${index}].audience`, audience)];
    const seconds = count(expirationSeconds);
    const invalid = (problem: string) => [fieldError.invalid(`${path}[${index}].expirationSeconds`, seconds, problem)];
    if (seconds === undefined) return [];
    if (seconds < 600) return invalid('may not specify a duration less than 10 minutes');
    return seconds > 2 ** 32 ? invalid('may not specify a duration larger than 2^32 seconds') : [];
  });
}

export const csiNodeStrategy: Strategy = {
  withDefaults: (node) => ({ ...node, spec: { drivers: null, ...record(node.spec) } }),
  validate: (node) => {
    const drivers = records(at(node, 'spec', 'drivers'));
    const names = drivers.map(({ name }) => name);
    return drivers.flatMap((driver, index) => {
      const own = `spec.drivers[${index}]`;
      return [
        ...csiDriverNameErrors(driver.name, `${own}.name`),
        ...nodeIdErrors(text(driver.nodeID) ?? '', `${own}.nodeID`),
        ...notNegative(at(driver, 'allocatable', 'count'), `${own}.allocatable.count`),
        ...(names.indexOf(driver.name) < index ? [fieldError.duplicate(`${own}.name`, driver.name)] : []),
        ...topologyKeyErrors(list(driver.topologyKeys), own),
      ];
    });
  },
  // What a driver says of a node stays as long as the driver is there, but how many volumes it can take.
  validateUpdate: (node, current) =>
    records(at(current, 'spec', 'drivers')).flatMap((old) => {
      const next = records(at(node, 'spec', 'drivers')).find(({ name }) => name === old.name);
      if (next === undefined || deepEqual(without(next, 'allocatable'), without(old, 'allocatable'))) return [];
      return [fieldError.invalid('spec.drivers', without(next, 'allocatable'), 'field is immutable')];
    }),
};

function nodeIdErrors(id: string, path: string): readonly FieldError[] {
  if (id === '') return [fieldError.required(path)];
  const problem = `must be ${longestNodeId} characters or less`;
  return id.length > longestNodeId ? [fieldError.invalid(path, id, problem)] : [];
}

/** Upstream says of every key that the driver is at fault. */
function topologyKeyErrors(keys: readonly unknown[], path: string): readonly FieldError[] {
  return keys.flatMap((key, index) => [
    ...requiredText(key, path),
    ...(keys.indexOf(key) < index ? [fieldError.duplicate(path, key)] : []),
    ...qualifiedErrors(key, path),
  ]);
}

export const storageCapacityStrategy: Strategy = {
  validate: ({ storageClassName, capacity, nodeTopology }) => [
    ...selectorErrors(nodeTopology, 'nodeTopology'),
    ...subdomainErrors(storageClassName, 'storageClassName'),
    ...(typeof capacity === 'string' && parseQuantity(capacity).nano < 0n
      ? [fieldError.invalid('capacity', capacity, 'must be greater than or equal to 0')]
      : []),
  ],
  validateUpdate: (capacity, current) =>
    ['nodeTopology', 'storageClassName'].flatMap((field) =>
      deepEqual(capacity[field], current[field])
        ? []
        : [fieldError.invalid(field, capacity[field] ?? null, 'field is immutable')],
    ),
};

export const volumeAttributesClassStrategy: Strategy = {
  validate: (attributes) => [
    ...driverNameErrors(attributes.driverName, 'driverName'),
    ...parameterErrors(attributes.parameters, 'parameters'),
    ...(Object.keys(record(attributes.parameters)).length === 0
      ? [fieldError.required('parameters', 'must contain at least one key/value pair')]
      : []),
  ],
  validateUpdate: (attributes, current) => [
    ...(attributes.driverName === current.driverName
      ? []
      : [fieldError.forbidden('driverName', 'updates to driverName are forbidden.')]),
    ...(deepEqual(attributes.parameters, current.parameters)
      ? []
      : [fieldError.forbidden('parameters', 'updates to parameters are forbidden.')]),
  ],
};

function fixed(driver: ApiObject, current: ApiObject, field: string, path: string): readonly FieldError[] {
  const [next, old] = [at(driver, 'spec', field), at(current, 'spec', field)];
  return deepEqual(next, old) ? [] : [fieldError.invalid(path, next ?? null, 'field is immutable')];
}
