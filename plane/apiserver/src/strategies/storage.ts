import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, text } from '../json.js';
import { type Strategy, timestamp } from '../registry/strategy.js';
import { volumeErrors } from './claim-validation.js';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];

export const persistentVolumeStrategy: Strategy = {
  withDefaults: (volume) => {
    const spec = record(volume.spec);
    const hostPath = spec.hostPath === undefined ? {} : { hostPath: { type: '', ...record(spec.hostPath) } };
    return {
      ...volume,
      spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...spec, ...hostPath },
    };
  },
  prepareForCreate: (volume, { world }) => ({
    ...volume,
    status: { phase: 'Pending', lastPhaseTransitionTime: timestamp(world) },
  }),
  validate: (volume) => volumeErrors(volume, sourcesOf(record(volume.spec))),
  validateUpdate: (volume, current) => {
    const [source, old] = [sourceOf(record(volume.spec)), sourceOf(record(current.spec))];
    return source === old && deepEqual(sourceValue(volume, source), sourceValue(current, old))
      ? []
      : [
          fieldError.forbidden(
            'spec.persistentvolumesource',
            'spec.persistentvolumesource is immutable after creation',
          ),
        ];
  },
};

/** What a volume's spec says beside where the volume is. */
const otherFields = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

function sourcesOf(spec: JsonRecord): readonly string[] {
  return Object.keys(spec).filter((field) => !otherFields.has(field));
}

function sourceOf(spec: JsonRecord): string | undefined {
  return sourcesOf(spec)[0];
}

function sourceValue(volume: ApiObject, source: string | undefined): unknown {
  return source === undefined ? undefined : at(volume, 'spec', source);
}

export const storageClassStrategy: Strategy = {
  withDefaults: (storageClass) => ({
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    ...storageClass,
  }),
  validate: ({ provisioner, reclaimPolicy, volumeBindingMode }) => [
    ...((text(provisioner) ?? '') === '' ? [fieldError.required('provisioner')] : []),
    ...oneOf('reclaimPolicy', reclaimPolicy, reclaimPolicies),
    ...oneOf('volumeBindingMode', volumeBindingMode, bindingModes),
  ],
  validateUpdate: (storageClass, current) =>
    ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((field) =>
      deepEqual(storageClass[field], current[field])
        ? []
        : [fieldError.invalid(field, storageClass[field] ?? null, 'field is immutable')],
    ),
};

function oneOf(field: string, value: unknown, supported: readonly string[]): readonly FieldError[] {
  return supported.includes(String(value)) ? [] : [fieldError.notSupported(field, value, supported)];
}
