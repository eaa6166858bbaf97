import { compareQuantities, parseQuantity } from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { type ApiObject, at, text } from '../json.js';
import { type AdmissionPlugin, isCreateOf, isUpdateOf } from './admission-plugin.js';

const finalizers: ReadonlyMap<string, string> = new Map([
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
]);

/** StorageObjectInUseProtection: claims and volumes stay until a controller has seen that nobody uses them. */
export const storageInUseProtection: AdmissionPlugin = {
  handles: (write) => isCreateOf(write, '', 'persistentvolumeclaims') || isCreateOf(write, '', 'persistentvolumes'),
  mutate({ definition, object }) {
    const finalizer = finalizers.get(definition.plural) ?? '';
    const present = object.metadata.finalizers ?? [];
    if (present.includes(finalizer)) return object;
    return { ...object, metadata: { ...object.metadata, finalizers: [...present, finalizer] } };
  },
};

/** PersistentVolumeClaimResize: only a bound claim of a class that allows it may ask for more. */
export const claimResize: AdmissionPlugin = {
  handles: (write) => isUpdateOf(write, '', 'persistentvolumeclaims'),
  async validate({ definition, name, object, current }, { server }) {
    if (object === undefined || current === undefined || !asksForMore(object, current)) return;
    if (at(current, 'status', 'phase') !== 'Bound') {
      throw forbidden(definition, name, 'Only bound persistent volume claims can be expanded');
    }
    const { store } = server.registry.builtin('storage.k8s.io', 'v1', 'storageclasses');
    const className = classOf(object);
    const found = className === '' ? undefined : await store.storage.get(store.layout.prefix + className);
    if (found?.allowVolumeExpansion === true) return;
    const problem =
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
    throw forbidden(definition, name, problem);
  },
};

function asksForMore(claim: ApiObject, current: ApiObject): boolean {
  const [asked, before] = [claim, current].map((each) => text(at(each, 'spec', 'resources', 'requests', 'storage')));
  if (asked === undefined || before === undefined) return false;
  return compareQuantities(parseQuantity(asked), parseQuantity(before)) > 0;
}

/** The annotation is of a time before claims had a field for it, and still counts first. */
function classOf(claim: ApiObject): string {
  const annotation = claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'];
  return annotation ?? text(at(claim, 'spec', 'storageClassName')) ?? '';
}
