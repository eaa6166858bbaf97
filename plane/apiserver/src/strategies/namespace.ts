import { dns1123LabelErrors } from '@castellan/machinery';
import { type ApiObject, at, list, withAt } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

const namespaceFinalizer = 'kubernetes';
const nameLabel = 'kubernetes.io/metadata.name';

export const namespaceStrategy: Strategy = {
  withDefaults: (object) => withNameLabel(object),

  nameProblems: (name) => {
    if (name.includes('.')) return ['must not contain dots'];
    return dns1123LabelErrors(name);
  },

  prepareForCreate: (object) => ({
    ...object,
    spec: { finalizers: [namespaceFinalizer] },
    status: { phase: 'Active' },
  }),

  // What holds a namespace is changed by /finalize alone.
  prepareForUpdate: (object, current) => ({ ...object, spec: current.spec }),

  // The namespace controller empties the namespace, then takes its finalizer out of spec.
  mayVanish: (object) => list(at(object, 'spec', 'finalizers')).length === 0,

  prepareForDelete: (object) => {
    const { deletionGracePeriodSeconds: _, ...metadata } = object.metadata;
    return { ...object, metadata, status: withAt(object.status, ['phase'], 'Terminating') };
  },
};

function withNameLabel(object: ApiObject): ApiObject {
  const { name = '', labels } = object.metadata;
  if (labels?.[nameLabel] === name) return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, [nameLabel]: name } } };
}
