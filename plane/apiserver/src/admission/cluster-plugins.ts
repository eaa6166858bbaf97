import { forbidden } from '../errors.js';
import { at, records, withAt } from '../json.js';
import { type AdmissionPlugin, isCreateOf } from './admission-plugin.js';

const protectedNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** NamespaceLifecycle's part in deletes; its part in creates is registry/admission.ts. */
export const namespaceProtection: AdmissionPlugin = {
  handles: ({ operation, definition }) =>
    operation === 'DELETE' && definition.group === '' && definition.plural === 'namespaces',
  validate({ definition, name }) {
    if (protectedNamespaces.includes(name)) throw forbidden(definition, name, 'this namespace may not be deleted');
  },
};

const notReadyTaint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

/** TaintNodesByCondition: nothing is scheduled to a new node before it has said that it is ready. */
export const nodeTaint: AdmissionPlugin = {
  handles: (write) => isCreateOf(write, '', 'nodes'),
  mutate({ object }) {
    const taints = records(at(object, 'spec', 'taints'));
    const isThere = taints.some(({ key, effect }) => key === notReadyTaint.key && effect === notReadyTaint.effect);
    return isThere ? object : { ...object, spec: withAt(object.spec, ['taints'], [...taints, notReadyTaint]) };
  },
};

const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** DefaultStorageClass: a claim that names no class gets the default one; the newest, where there are several. */
export const defaultStorageClass: AdmissionPlugin = {
  handles: (write) => isCreateOf(write, '', 'persistentvolumeclaims'),
  async mutate({ object }, { server }) {
    if (at(object, 'spec', 'storageClassName') !== undefined) return object;
    const classes = await server.registry.find({ group: 'storage.k8s.io', version: 'v1', plural: 'storageclasses' });
    if (classes === undefined) return object;
    const { store } = classes;
    await store.cache.fresh();
    const [newest] = store.cache
      .list(store.layout.prefix)
      .map((entry) => entry.object.metadata)
      .filter(({ annotations }) => annotations?.[defaultClassAnnotation] === 'true')
      .sort((left, right) => (ageKey(left) < ageKey(right) ? 1 : -1));
    if (newest === undefined) return object;
    return { ...object, spec: withAt(object.spec, ['storageClassName'], newest.name) };
  },
};

function ageKey({ creationTimestamp, name }: { creationTimestamp?: string | null; name?: string }): string {
  return `${creationTimestamp ?? ''} ${name ?? ''}`;
}
