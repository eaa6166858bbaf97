import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, record, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

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
  validateUpdate: (driver, current) => fixed(driver, current, ['attachRequired', 'volumeLifecycleModes']),
};

export const csiNodeStrategy: Strategy = {
  withDefaults: (node) => ({ ...node, spec: { drivers: null, ...record(node.spec) } }),
};

export const storageCapacityStrategy: Strategy = {
  validate: (capacity) => required(capacity, ['storageClassName']),
  validateUpdate: (capacity, current) =>
    ['nodeTopology', 'storageClassName'].flatMap((field) =>
      deepEqual(capacity[field], current[field])
        ? []
        : [fieldError.invalid(field, capacity[field] ?? null, 'field is immutable')],
    ),
};

/** A volume that is, or is to be, at a node. */
export const volumeAttachmentStrategy: Strategy = {
  prepareForCreate: (attachment) => ({ ...attachment, status: { attached: false } }),
  validate: (attachment) => {
    const { persistentVolumeName, inlineVolumeSpec } = record(at(attachment, 'spec', 'source'));
    const hasName = (text(persistentVolumeName) ?? '') !== '';
    return [
      ...required(attachment, ['attacher', 'nodeName'], 'spec'),
      ...(hasName || inlineVolumeSpec !== undefined
        ? []
        : [
            fieldError.required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'),
          ]),
      ...(hasName && inlineVolumeSpec !== undefined
        ? [fieldError.forbidden('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')]
        : []),
    ];
  },
  validateUpdate: (attachment, current) =>
    deepEqual(attachment.spec, current.spec)
      ? []
      : [fieldError.invalid('spec', record(attachment.spec), 'field is immutable')],
};

export const volumeAttributesClassStrategy: Strategy = {
  validate: (attributes) => [
    ...required(attributes, ['driverName']),
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

export const runtimeClassStrategy: Strategy = {
  validate: (runtime) => {
    const handler = text(runtime.handler) ?? '';
    if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(handler)) return [];
    const problem =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    return [fieldError.invalid('handler', handler, problem)];
  },
  validateUpdate: (runtime, current) =>
    runtime.handler === current.handler
      ? []
      : [fieldError.invalid('handler', runtime.handler ?? null, 'field is immutable')],
};

function required(object: ApiObject, fields: readonly string[], parent?: string): readonly FieldError[] {
  const holder = parent === undefined ? object : record(object[parent]);
  return fields.flatMap((field) =>
    (text(holder[field]) ?? '') === ''
      ? [fieldError.required(parent === undefined ? field : `${parent}.${field}`)]
      : [],
  );
}

function fixed(object: ApiObject, current: ApiObject, fields: readonly string[]): readonly FieldError[] {
  return fields.flatMap((field) => {
    const [next, old] = [at(object, 'spec', field), at(current, 'spec', field)];
    return deepEqual(next, old) ? [] : [fieldError.invalid(`spec.${field}`, next ?? null, 'field is immutable')];
  });
}
