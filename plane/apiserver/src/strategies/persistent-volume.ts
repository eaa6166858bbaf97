import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, record, without } from '../json.js';
import { printed, printedLines } from '../pods/go-print.js';
import { lineDiff } from '../pods/line-diff.js';
import { withSourceDefaults } from '../pods/volume-defaults.js';
import { type Strategy, timestamp } from '../registry/strategy.js';
import { persistentSources } from './persistent-sources.js';
import { volumeErrors } from './volume-validation.js';

export const persistentVolumeStrategy: Strategy = {
  withDefaults: (volume) => {
    const spec = record(volume.spec);
    const sources = Object.entries(sourcesOf(spec)).map(([field, source]) => [
      field,
      withSourceDefaults(field, record(source)),
    ]);
    return {
      ...volume,
      spec: {
        persistentVolumeReclaimPolicy: 'Retain',
        volumeMode: 'Filesystem',
        ...spec,
        ...Object.fromEntries(sources),
      },
    };
  },
  prepareForCreate: (volume, { world }) => ({
    ...volume,
    status: { phase: 'Pending', lastPhaseTransitionTime: timestamp(world) },
  }),
  prepareForStatus(volume, current, { world }) {
    const [status, old] = [record(volume.status), record(current.status)];
    const field = 'lastPhaseTransitionTime';
    // Who writes a time of its own knows better.
    if (status.phase === old.phase || (status[field] ?? old[field]) !== old[field]) return volume;
    return { ...volume, status: { ...status, [field]: timestamp(world) } };
  },
  validate: ({ spec }) => volumeErrors(record(spec)),
  validateUpdate: (volume, current) => {
    const [spec, old] = [record(volume.spec), record(current.spec)];
    return [
      ...sourceUpdateErrors(withoutNewSecret(spec, old), old),
      ...(deepEqual(spec.volumeMode, old.volumeMode)
        ? []
        : [fieldError.invalid('volumeMode', spec.volumeMode ?? null, 'field is immutable')]),
      ...(old.nodeAffinity === undefined || deepEqual(spec.nodeAffinity, old.nodeAffinity)
        ? []
        : [fieldError.invalid('nodeAffinity', shownAffinity(spec.nodeAffinity), 'field is immutable')]),
      ...(old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined
        ? [fieldError.forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
        : []),
    ];
  },
};

/** Where a volume is does not change. */
function sourceUpdateErrors(spec: JsonRecord, old: JsonRecord): readonly FieldError[] {
  const [next, before] = [sourcesOf(spec), sourcesOf(old)];
  if (deepEqual(next, before)) return [];
  const type = 'PersistentVolumeSource';
  const difference = lineDiff(printedLines(type, before), printedLines(type, next));
  const path = 'spec.persistentvolumesource';
  return [fieldError.forbidden(path, `${path} is immutable after creation\n${difference}`)];
}

/** A secret for making a volume larger may be named once. */
function withoutNewSecret(spec: JsonRecord, old: JsonRecord): JsonRecord {
  const isNew = old.csi !== undefined && at(old, 'csi', 'controllerExpandSecretRef') === undefined;
  if (!isNew || spec.csi === undefined) return spec;
  return { ...spec, csi: without(record(spec.csi), 'controllerExpandSecretRef') };
}

function sourcesOf(spec: JsonRecord): JsonRecord {
  return Object.fromEntries(
    persistentSources.flatMap(({ field }) => (spec[field] === undefined ? [] : [[field, spec[field]]])),
  );
}

function shownAffinity(affinity: unknown): unknown {
  return affinity === undefined ? null : printed('VolumeNodeAffinity', record(affinity));
}
