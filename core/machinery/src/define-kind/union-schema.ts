import { escapeName } from '../cel/schema-type.js';
import type { JsonSchema, ValidationRule } from '../schema/json-schema.js';
import { deepEqual } from '../value/deep-equal.js';
import { type Fields, objectJson, type ReadOfFields, type WriteOfFields } from './object-schema.js';
import { SchemaBuilder } from './schema-builder.js';

export type Variants = Readonly<Record<string, Fields>>;

type Tagged<Name extends string, Value, T> = { readonly [N in Name]: Value } & T;

export type ReadOfUnion<Name extends string, V extends Variants> = {
  [Value in keyof V]: Tagged<Name, Value, ReadOfFields<V[Value]>>;
}[keyof V];

export type WriteOfUnion<Name extends string, V extends Variants> = {
  [Value in keyof V]: Tagged<Name, Value, WriteOfFields<V[Value]>>;
}[keyof V];

/**
 * An object whose field `discriminator` says which other fields it has. A structural schema declares the fields of all
 * variants, and rules in CEL say which of them go together.
 *
 * @throws Error where two variants have a field of one name with different schemas, or one has a default: it would be put
 *   into objects of the other variants too.
 */
export function unionSchema<const Name extends string, const V extends Variants>(
  discriminator: Name,
  variants: V,
): SchemaBuilder<ReadOfUnion<Name, V>, WriteOfUnion<Name, V>> {
  const properties = new Map<string, JsonSchema>([[discriminator, { type: 'string', enum: Object.keys(variants) }]]);
  for (const [value, fields] of Object.entries(variants)) {
    for (const [name, json] of Object.entries(objectJson(fields).properties ?? {})) {
      const before = properties.get(name);
      const at = `field ${JSON.stringify(name)} of ${discriminator} ${JSON.stringify(value)}`;
      if (json.default !== undefined) {
        throw new Error(`${at} has a default, which would be put into the other variants too: make it optional`);
      }
      if (before !== undefined && !deepEqual(before, json)) {
        throw new Error(`${at} has another schema than in an earlier variant: use two names, or one schema`);
      }
      properties.set(name, json);
    }
  }
  return new SchemaBuilder<ReadOfUnion<Name, V>, WriteOfUnion<Name, V>>(
    {
      type: 'object',
      required: [discriminator],
      properties: Object.fromEntries(properties),
      'x-kubernetes-validations': rulesOf(discriminator, variants),
    },
    'required',
  );
}

/** For each field: where it has to be, and where it may be. */
function rulesOf(discriminator: string, variants: Variants): readonly ValidationRule[] {
  const names = new Set(Object.values(variants).flatMap((fields) => Object.keys(fields)));
  const tag = `self.${escapeName(discriminator)}`;
  return [...names].flatMap((name) => {
    const values = Object.keys(variants).filter((value) => variants[value]?.[name] !== undefined);
    const needing = values.filter((value) => variants[value]?.[name]?.presence === 'required');
    const has = `has(self.${escapeName(name)})`;
    const rules: ValidationRule[] = [];
    if (needing.length > 0) {
      rules.push({
        rule: `!(${tag} in ${listOf(needing)}) || ${has}`,
        message: `${name} is required when ${discriminator} is ${needing.join(' or ')}`,
      });
    }
    if (values.length < Object.keys(variants).length) {
      rules.push({
        rule: `${tag} in ${listOf(values)} || !${has}`,
        message: `${name} may be set only when ${discriminator} is ${values.join(' or ')}`,
      });
    }
    return rules;
  });
}

function listOf(values: readonly string[]): string {
  return `[${values.map((value) => `'${value.replace(/['\\]/g, '\\$&')}'`).join(', ')}]`;
}
