import type { FieldTypes, ListKey } from './field-types.js';

/**
 * The lists of built-in kinds that are told apart by keys: `parent.field key,key=default`, where a parent is the field
 * that holds the object, and an item has the parent of its list's name. From `x-kubernetes-list-map-keys` of
 * Kubernetes' OpenAPI document.
 */
const keyedListTable = `
  metadata.ownerReferences uid
  spec.containers name
  spec.initContainers name
  spec.ephemeralContainers name
  spec.hostAliases ip
  spec.imagePullSecrets name
  spec.resourceClaims name
  spec.schedulingGates name
  spec.topologySpreadConstraints topologyKey,whenUnsatisfiable
  spec.volumes name
  spec.ports port,protocol=TCP
  spec.matchConditions name
  spec.drivers name
  spec.variables name
  containers.env name
  containers.ports containerPort,protocol=TCP
  containers.volumeDevices devicePath
  containers.volumeMounts mountPath
  initContainers.env name
  initContainers.ports containerPort,protocol=TCP
  initContainers.volumeDevices devicePath
  initContainers.volumeMounts mountPath
  ephemeralContainers.env name
  ephemeralContainers.ports containerPort,protocol=TCP
  ephemeralContainers.volumeDevices devicePath
  ephemeralContainers.volumeMounts mountPath
  resources.claims name
  containerStatuses.volumeMounts mountPath
  initContainerStatuses.volumeMounts mountPath
  status.addresses type
  status.conditions type
  status.podIPs ip
  status.resourceClaimStatuses name
  status.devices driver,device,pool,shareID
  status.reservedFor uid
  devices.conditions type
  .conditions type
  .secrets name
  .webhooks name
  webhooks.matchConditions name
`;

const keyedLists: ReadonlyMap<string, readonly ListKey[]> = new Map(
  keyedListTable
    .trim()
    .split('\n')
    .map((line) => {
      const [field = '', keys = ''] = line.trim().split(' ');
      return [field, keys.split(',').map(parseKey)];
    }),
);

function parseKey(text: string): ListKey {
  const [name = '', preset] = text.split('=');
  // A key that must be there is Go's zero value until validation says so.
  return { name, default: preset ?? (/port$/i.test(name) ? 0 : '') };
}

const setLists: ReadonlySet<string> = new Set([
  'metadata.finalizers',
  'spec.podCIDRs',
  'spec.validationActions',
  'spec.volumeLifecycleModes',
  'endpoints.addresses',
  'uncountedTerminatedPods.failed',
  'uncountedTerminatedPods.succeeded',
]);

/**
 * Objects of built-in kinds that are one value: by field, or by parent and field where the name is used for others, too.
 * Mostly references and selectors.
 */
const atomicObjects: ReadonlySet<string> = new Set([
  '.target',
  'backend.resource',
  'configMapKeyRef',
  'controllerExpandSecretRef',
  'controllerPublishSecretRef',
  'dataSource',
  'defaultBackend.resource',
  'fieldRef',
  'fileKeyRef',
  'imagePullSecrets',
  'involvedObject',
  'labelSelector',
  'matchConstraints',
  'matchResources',
  'namespaceSelector',
  'nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution',
  'nodeExpandSecretRef',
  'nodePublishSecretRef',
  'nodeSelector',
  'nodeStageSecretRef',
  'nodeTopology',
  'objectSelector',
  'ownerReferences',
  'paramKind',
  'paramRef',
  'podSelector',
  'preference',
  'regarding',
  'related',
  'required',
  'resourceFieldRef',
  'roleRef',
  'scopeSelector',
  'secretKeyRef',
  'secretRef',
  'secrets',
  'selector',
  'service.port',
  'targetRef',
]);

interface Exceptions {
  readonly atomicLists?: readonly string[];
  readonly atomicObjects?: readonly string[];
}

/** Kinds in which a place that others have, too, is another: by group/version.Kind without the group's domain. */
const exceptions: Readonly<Record<string, Exceptions>> = {
  'autoscaling/v1.HorizontalPodAutoscaler': { atomicObjects: ['spec.scaleTargetRef'] },
  'batch/v1.Job': { atomicLists: ['status.conditions'] },
};
const noExceptions: Exceptions = {};

/** A place in a built-in object. Answers when asked, as there is one of these for each field that is looked at. */
class BuiltInPlace implements FieldTypes {
  readonly scalar = '';
  readonly #parent: string;
  readonly #field: string;
  readonly #isItem: boolean;
  readonly #exceptions: Exceptions;

  constructor(parent: string, field: string, isItem: boolean, exceptions: Exceptions) {
    this.#exceptions = exceptions;
    this.#parent = parent;
    this.#field = field;
    this.#isItem = isItem;
  }

  get isAtomicObject(): boolean {
    const name = `${this.#parent}.${this.#field}`;
    if (atomicObjects.has(this.#field) || atomicObjects.has(name)) return true;
    return this.#exceptions.atomicObjects?.includes(name) === true;
  }

  get list(): FieldTypes['list'] {
    if (this.#isItem) return 'atomic';
    const name = `${this.#parent}.${this.#field}`;
    if (this.#exceptions.atomicLists?.includes(name) === true) return 'atomic';
    const keys = keyedLists.get(name);
    if (keys !== undefined) return { keys };
    return setLists.has(name) ? 'set' : 'atomic';
  }

  isDeclared(): boolean {
    return true;
  }

  field(name: string): FieldTypes {
    return new BuiltInPlace(this.#field, name, false, this.#exceptions);
  }

  get items(): FieldTypes {
    return new BuiltInPlace(this.#parent, this.#field, true, this.#exceptions);
  }
}

/**
 * The types of all built-in kinds, so far as lists and atomic objects go. Which fields a kind has, is not known here:
 * the server finds unknown fields when it decodes.
 */
export const builtInTypes: FieldTypes = new BuiltInPlace('', '', false, noExceptions);

const byKind = new Map<string, FieldTypes>();

/** `builtInTypes` with what is different in one kind. */
export function builtInTypesOf(kind: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): FieldTypes {
  const name = `${kind.group.split('.')[0]}/${kind.version}.${kind.kind}`;
  if (!Object.hasOwn(exceptions, name)) return builtInTypes;
  const known = byKind.get(name) ?? new BuiltInPlace('', '', false, exceptions[name] ?? noExceptions);
  byKind.set(name, known);
  return known;
}
