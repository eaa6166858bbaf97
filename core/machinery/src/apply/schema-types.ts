import type { JsonSchema } from '../schema/json-schema.js';
import { builtInTypes } from './built-in-types.js';
import { type FieldTypes, untyped } from './field-types.js';

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
