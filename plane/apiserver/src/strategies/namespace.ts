import { dns1123LabelErrors } from '@castellan/machinery';
import { type ApiObject, at, list, withAt } from '../json.js';
import { qualifiedErrors } from '../pods/scalar-rules.js';
import { ownFinalizerErrors } from '../registry/finalizer-rules.js';
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
    spec: { finalizers: withKubernetes(ownFinalizers(object)) },
    status: { phase: 'Active' },
  }),

  validate: (object) => {
    const finalizers = ownFinalizers(object);
    return [
      ...finalizers.flatMap((finalizer, index) => qualifiedErrors(finalizer, `spec.finalizers[${index}]`)),
      ...ownFinalizerErrors(finalizers, 'spec.finalizers'),
    ];
  },

  // What holds a namespace is changed by /finalize alone.
  prepareForUpdate: (object, current) => ({ ...object, spec: current.spec }),

  // The namespace controller empties the namespace, then takes its finalizer out of spec.
  mayVanish: (object) => list(at(object, 'spec', 'finalizers')).length === 0,

  prepareForDelete: (object) => {
    const { deletionGracePeriodSeconds: _, ...metadata } = object.metadata;
    return { ...object, metadata, status: withAt(object.status, ['phase'], 'Terminating') };
  },
};

function withKubernetes(finalizers: readonly string[]): readonly string[] {
  return finalizers.includes(namespaceFinalizer) ? finalizers : [...finalizers, namespaceFinalizer];
}

function ownFinalizers(object: ApiObject): readonly string[] {
  return list(at(object, 'spec', 'finalizers')).map(String);
}

function withNameLabel(object: ApiObject): ApiObject {
  const { name = '', labels } = object.metadata;
  if (labels?.[nameLabel] === name) return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, [nameLabel]: name } } };
}
