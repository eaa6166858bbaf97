import type { JsonSchema } from '../schema/json-schema.js';

/** What server-side apply must know of the value at one place: who of several managers owns what of it. */
export interface FieldTypes {
  /** Whether an object here is one value; else each of its fields has its own managers. */
  readonly isAtomicObject: boolean;
  /** Whether a list here is one value, a set of values, or objects told apart by keys. */
  readonly list: 'atomic' | 'set' | { readonly keys: readonly ListKey[] };
  /** The scalar type that a value here must have; '' where any will do. */
  readonly scalar: string;
  /** Whether this field is part of the type; else it is an entry of a map, or unknown. */
  isDeclared(field: string): boolean;
  /** The types of a field; `undefined` where there can be none of that name. */
  field(name: string): FieldTypes | undefined;
  readonly items: FieldTypes;
}

export interface ListKey {
  readonly name: string;
  /** The value of an item that does not say. */
  readonly default?: unknown;
}

/** Where nothing is known: each field of an object is separate, a list is one value. */
export const untyped: FieldTypes = {
  isAtomicObject: false,
  list: 'atomic',
  scalar: '',
  isDeclared: () => false,
  field: () => untyped,
  get items() {
    return untyped;
  },
};

/** The types of a custom resource. Its own `metadata` is that of every resource. */
export function typesOfResource(schema: JsonSchema): FieldTypes {
  const ofSchema = typesOfSchema(schema);
  const text: FieldTypes = { ...untyped, scalar: 'string' };
  const implied = new Map([
    ['apiVersion', text],
    ['kind', text],
    ['metadata', builtInTypes.field('metadata') ?? untyped],
  ]);
  return {
    ...ofSchema,
    isDeclared: (name) => implied.has(name) || ofSchema.isDeclared(name),
    field: (name) => implied.get(name) ?? ofSchema.field(name),
    items: untyped,
  };
}

const knownTypes = new WeakMap<JsonSchema, FieldTypes>();

function typesOfSchema(schema: JsonSchema): FieldTypes {
  const before = knownTypes.get(schema);
  if (before !== undefined) return before;
  const { additionalProperties, properties = {} } = schema;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true;
  const other = typeof additionalProperties === 'object' ? typesOfSchema(additionalProperties) : undefined;
  const types: FieldTypes = {
    isAtomicObject: schema['x-kubernetes-map-type'] === 'atomic',
    list: listOf(schema),
    scalar: schema['x-kubernetes-int-or-string'] ? '' : (schema.type ?? ''),
    isDeclared: (name) => Object.hasOwn(properties, name),
    field: (name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (property !== undefined) return typesOfSchema(property);
      return other ?? (isOpen ? untyped : undefined);
    },
    get items() {
      return schema.items === undefined ? untyped : typesOfSchema(schema.items);
    },
  };
  knownTypes.set(schema, types);
  return types;
}

function listOf(schema: JsonSchema): FieldTypes['list'] {
  const { items } = schema;
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return 'set';
    case 'map':
      return {
        keys: (schema['x-kubernetes-list-map-keys'] ?? []).map((name) => {
          const preset = items?.properties?.[name]?.default;
          return preset === undefined ? { name } : { name, default: preset };
        }),
      };
    default:
      return 'atomic';
  }
}

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
  containers.env name
  containers.ports containerPort,protocol=TCP
  containers.volumeDevices devicePath
  containers.volumeMounts mountPath
  initContainers.env name
  initContainers.ports containerPort,protocol=TCP
  initContainers.volumeDevices devicePath
  initContainers.volumeMounts mountPath
  resources.claims name
  containerStatuses.volumeMounts mountPath
  initContainerStatuses.volumeMounts mountPath
  status.addresses type
  status.conditions type
  status.podIPs ip
  status.resourceClaimStatuses name
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
  return preset === undefined ? { name } : { name, default: preset };
}

const setLists: ReadonlySet<string> = new Set(['metadata.finalizers', 'spec.podCIDRs', 'endpoints.addresses']);

/** Objects of built-in kinds that are one value: by field, whatever holds it. Mostly references and selectors. */
const atomicObjects: ReadonlySet<string> = new Set([
  'configMapKeyRef',
  'fieldRef',
  'imagePullSecrets',
  'involvedObject',
  'labelSelector',
  'namespaceSelector',
  'nodeSelector',
  'objectSelector',
  'ownerReferences',
  'podSelector',
  'regarding',
  'related',
  'resourceFieldRef',
  'roleRef',
  'scaleTargetRef',
  'secretKeyRef',
  'secretRef',
  'secrets',
  'selector',
  'targetRef',
]);

/**
 * The types of all built-in kinds, so far as lists and atomic objects go. Which fields a kind has, is not known here:
 * the server finds unknown fields when it decodes.
 */
export const builtInTypes: FieldTypes = builtInAt('', '');

function builtInAt(parent: string, field: string, isItem = false): FieldTypes {
  const name = `${parent}.${field}`;
  const keys = keyedLists.get(name);
  const list = keys === undefined ? (setLists.has(name) ? 'set' : 'atomic') : { keys };
  return {
    isAtomicObject: atomicObjects.has(field),
    list: isItem ? 'atomic' : list,
    scalar: '',
    isDeclared: () => true,
    field: (child) => builtInAt(field, child),
    get items() {
      return builtInAt(parent, field, true);
    },
  };
}
