import { deepEqual, type StatusError } from '@castellan/machinery';
import { nodeOf } from '../authorization/node-identity.js';
import { referencesOf } from '../authorization/node-references.js';
import { forbidden } from '../errors.js';
import { type ApiObject, at, records, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import { storageKey } from '../storage/keys.js';
import type { AdmissionContext, AdmissionPlugin } from './admission-plugin.js';
import { forbiddenNodeLabels } from './node-labels.js';

const leaseNamespace = 'kube-node-lease';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** What is wrong with a node's write; nothing when it may be. */
type Judge = (
  node: string,
  write: AdmissionWrite,
  context: AdmissionContext,
) => string | undefined | Promise<string | undefined>;

const judges: Readonly<Record<string, Judge>> = {
  '/pods': judgePod,
  '/nodes': judgeNode,
  '/persistentvolumeclaims': (_node, { subresource }) =>
    subresource === 'status' ? undefined : 'may only update PVC status',
  '/serviceaccounts': judgeToken,
  'coordination.k8s.io/leases': judgeLease,
  'storage.k8s.io/csinodes': (node, { name }) =>
    name === node ? undefined : 'can only access CSINode with the same name as the requesting node',
};

/** NodeRestriction: a node writes its own Node, its own lease, and what concerns the pods that it runs. */
export const nodeRestriction: AdmissionPlugin = {
  handles: ({ definition: { group, plural } }) => Object.hasOwn(judges, `${group}/${plural}`),
  async validate(write, context) {
    const { definition } = write;
    const node = nodeOf(context.user);
    if (node === undefined) return;
    if (node === '') {
      throw refused(write, `could not determine node from user ${JSON.stringify(context.user.name)}`);
    }
    const problem = await judges[`${definition.group}/${definition.plural}`]?.(node, write, context);
    if (problem !== undefined) throw refused(write, problem);
  },
};

function refused({ definition, name }: AdmissionWrite, problem: string): StatusError {
  return forbidden(definition, name, problem);
}

async function judgePod(node: string, write: AdmissionWrite, context: AdmissionContext): Promise<string | undefined> {
  const { operation, subresource, object, current } = write;
  const isOwn = (pod: ApiObject | undefined) => at(pod, 'spec', 'nodeName') === node;
  const which = 'pods with spec.nodeName set to itself';
  switch (subresource) {
    case '':
      if (operation === 'DELETE') return isOwn(current) ? undefined : `node "${node}" can only delete ${which}`;
      if (operation === 'CREATE' && object !== undefined) return await judgeMirror(node, object, context);
      return `unexpected operation "${operation}", node "${node}" can only create and delete mirror pods`;
    case 'status':
      if (!isOwn(current)) return `node "${node}" can only update pod status for ${which}`;
      return deepEqual(object?.metadata.labels ?? {}, current?.metadata.labels ?? {})
        ? undefined
        : `node "${node}" cannot update labels through pod status`;
    case 'eviction':
      return isOwn(await findPod(write, write.name, context)) ? undefined : `node ${node} can only evict ${which}`;
    default:
      return `unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`;
  }
}

/** The only pods that a node makes are those that show what it runs by files of its own. */
async function judgeMirror(node: string, pod: ApiObject, { server }: AdmissionContext): Promise<string | undefined> {
  const can = `node "${node}" can only create`;
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined) {
    return `pod does not have "${mirrorAnnotation}" annotation, node "${node}" can only create mirror pods`;
  }
  if (at(pod, 'spec', 'nodeName') !== node) return `${can} pods with spec.nodeName set to itself`;
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  if (others.length > 0) return `${can} pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${can} pods with an owner reference set to itself`;
  }
  if (owner.controller !== true) return `${can} pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true) return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  const uid = (await server.tokens.find('nodes', '', node))?.metadata.uid ?? '';
  if (owner.uid !== uid) return `node ${node} UID mismatch: expected ${uid} got ${owner.uid}`;
  const references = referencesOf(pod);
  const cannot = `node "${node}" can not create pods that reference`;
  if (references.serviceAccount !== '') return `${cannot} a service account`;
  if (references.secrets.size > 0) return `${cannot} secrets`;
  if (references.configMaps.size > 0) return `${cannot} configmaps`;
  if (references.claims.size > 0) return `${cannot} persistentvolumeclaims`;
  return undefined;
}

function judgeNode(node: string, { operation, object, current, name }: AdmissionWrite): string | undefined {
  const not = `node "${node}" is not allowed to`;
  if (object !== undefined && at(object, 'spec', 'configSource') != null && operation === 'CREATE') {
    return `${not} create pods with a non-nil configSource`;
  }
  if (object !== undefined) {
    const labels = forbiddenNodeLabels(object.metadata.labels, current?.metadata.labels);
    if (labels.length > 0) {
      const verb = operation === 'CREATE' ? 'set the following labels' : 'modify labels';
      return `${not} ${verb}: ${labels.join(', ')}`;
    }
  }
  if (object !== undefined && current !== undefined) {
    const taints = (of: ApiObject) => records(at(of, 'spec', 'taints'));
    if (!deepEqual(taints(object), taints(current))) return `${not} modify taints`;
    const owners = (of: ApiObject) => of.metadata.ownerReferences ?? [];
    if (!deepEqual(owners(object), owners(current))) return `${not} modify ownerReferences`;
  }
  return name === node ? undefined : `${not} modify node "${name}"`;
}

async function judgeToken(node: string, write: AdmissionWrite, context: AdmissionContext): Promise<string | undefined> {
  if (write.subresource !== 'token' || write.operation !== 'CREATE') return undefined;
  const reference = at(write.object, 'spec', 'boundObjectRef');
  const name = text(at(reference, 'name')) ?? '';
  const uid = text(at(reference, 'uid')) ?? '';
  if (at(reference, 'apiVersion') !== 'v1' || at(reference, 'kind') !== 'Pod' || name === '') {
    return 'node requested token not bound to a pod';
  }
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = await findPod(write, name, context);
  if (pod === undefined) return `pod "${name}" not found`;
  if (pod.metadata.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (at(pod, 'spec', 'nodeName') !== node) return 'node requested token bound to a pod scheduled on a different node';
  return undefined;
}

function judgeLease(node: string, { namespace, name }: AdmissionWrite): string | undefined {
  if (namespace !== leaseNamespace) return `can only access leases in the "${leaseNamespace}" system namespace`;
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}

async function findPod({ namespace = '' }: AdmissionWrite, name: string, { server }: AdmissionContext) {
  const { store } = server.registry.builtin('', 'v1', 'pods');
  return await store.storage.get(storageKey(store.layout, { namespace, name }));
}
