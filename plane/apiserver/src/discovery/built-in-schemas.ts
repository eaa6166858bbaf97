import { type FieldType, type ObjectType, objectType } from '../types/field-types.js';
import { schemaNotes } from '../types/schema-notes.gen.js';

/** The OpenAPI schemas of built-in types, made of the table of their fields. Loaded with the first document. */
type Schema = Readonly<Record<string, unknown>>;

const packages: Readonly<Record<string, string>> = {
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
};

const scalars: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** Types whose JSON is not an object of their fields: the name of the schema, and the schema. */
const special: Readonly<Record<string, readonly [name: string, schema: Schema]>> = {
  Time: ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', { type: 'string', format: 'date-time' }],
  MicroTime: ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', { type: 'string', format: 'date-time' }],
  FieldsV1: ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', { type: 'object' }],
  Quantity: ['io.k8s.apimachinery.pkg.api.resource.Quantity', { oneOf: [{ type: 'string' }, { type: 'number' }] }],
  IntOrString: [
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
  RawExtension: ['io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'object' }],
  Json: ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', {}],
};

/** Messages of one list, or of a choice, that JSON writes without their fields. */
const unwrapped: Readonly<Record<string, Schema>> = {
  ExtraValue: { type: 'array', items: { type: 'string' } },
  JSONSchemaPropsOrArray: {},
  JSONSchemaPropsOrBool: {},
  JSONSchemaPropsOrStringArray: {},
};

/** `io.k8s.api.core.v1.Pod` for `core/v1.Pod` */
function schemaName(typeName: string): string {
  const known = Object.hasOwn(special, typeName) ? special[typeName] : undefined;
  if (known !== undefined) return known[0];
  const [group = '', rest = ''] = typeName.split('/');
  return `${(Object.hasOwn(packages, group) ? packages[group] : undefined) ?? `io.k8s.api.${group}`}.${rest}`;
}

/** The schemas of types, and of all that these refer to, by schema name. Types that the table lacks are left out. */
export function builtInSchemas(typeNames: readonly string[]): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  const queue = [...typeNames];
  for (let typeName = queue.pop(); typeName !== undefined; typeName = queue.pop()) {
    const name = schemaName(typeName);
    if (Object.hasOwn(schemas, name)) continue;
    const known = Object.hasOwn(special, typeName) ? special[typeName] : undefined;
    const type = objectType(typeName);
    if (known !== undefined) schemas[name] = known[1];
    else if (type !== undefined) {
      const own = typeName.slice(typeName.indexOf('.') + 1);
      const plain = Object.hasOwn(unwrapped, own) ? unwrapped[own] : undefined;
      schemas[name] = plain ?? objectSchema(type);
      if (plain === undefined) queue.push(...referred(type));
    }
  }
  return schemas;
}

function referred(type: ObjectType): readonly string[] {
  return [...type.byName.values()].map((field) => field.type).filter((name) => !Object.hasOwn(scalars, name));
}

function objectSchema(type: ObjectType): Schema {
  const notes = notesOf(type.name);
  const properties = [...type.byName.values()].map(
    (field) => [field.name, { ...fieldSchema(field), ...notes.fields.get(field.name) }] as const,
  );
  return {
    type: 'object',
    ...(notes.required.length === 0 ? {} : { required: notes.required }),
    properties: { ...kindFields(type), ...Object.fromEntries(properties) },
    ...(notes.isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  };
}

/** What every object says of itself, objects within objects too. */
function kindFields(type: ObjectType): Schema {
  if (type.byName.get('metadata')?.type !== 'meta/v1.ObjectMeta') return {};
  return { apiVersion: { type: 'string' }, kind: { type: 'string' } };
}

function fieldSchema(field: FieldType): Schema {
  const scalar = Object.hasOwn(scalars, field.type) ? scalars[field.type] : undefined;
  const one = scalar ?? { allOf: [{ $ref: `#/components/schemas/${schemaName(field.type)}` }] };
  switch (field.shape) {
    case 'list':
      return { type: 'array', items: one };
    case 'map':
      return { type: 'object', additionalProperties: one };
    case 'one':
      return one;
  }
}

interface Notes {
  readonly isAtomic: boolean;
  readonly required: readonly string[];
  readonly fields: ReadonlyMap<string, Schema>;
}

/** `name! ports=map:containerPort,protocol:merge:containerPort` */
function notesOf(typeName: string): Notes {
  const notes = (Object.hasOwn(schemaNotes, typeName) ? (schemaNotes[typeName] ?? '') : '').split(' ');
  const fields = notes.flatMap((note): readonly (readonly [string, Schema])[] => {
    const [name = '', rules] = note.split('=');
    if (rules === undefined || name === '') return [];
    const [type = '', keys = '', strategy = '', mergeKey = ''] = rules.split(':');
    return [[name, listRules({ type, keys, strategy, mergeKey })]];
  });
  return {
    isAtomic: notes.includes('=atomic'),
    required: notes.filter((note) => note.endsWith('!')).map((note) => note.slice(0, -1)),
    fields: new Map(fields),
  };
}

function listRules(rules: {
  readonly type: string;
  readonly keys: string;
  readonly strategy: string;
  readonly mergeKey: string;
}): Schema {
  const { type, keys, strategy, mergeKey } = rules;
  return {
    ...(type === '' ? {} : { 'x-kubernetes-list-type': type }),
    ...(keys === '' ? {} : { 'x-kubernetes-list-map-keys': keys.split(',') }),
    ...(strategy === '' ? {} : { 'x-kubernetes-patch-strategy': strategy }),
    ...(mergeKey === '' ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
  };
}
