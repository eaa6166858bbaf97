import type { JsonSchema } from '../schema/json-schema.js';
import {
  type AnySchema,
  type Presence,
  type ReadOfSchema,
  SchemaBuilder,
  type WriteOfSchema,
} from './schema-builder.js';

export type Fields = Readonly<Record<string, AnySchema>>;

/** The names of the fields that have this presence. */
type NamesOf<F extends Fields, P extends Presence> = {
  [Name in keyof F]: F[Name]['presence'] extends P ? Name : never;
}[keyof F];

/** One object type instead of an intersection: what editors and errors show. */
type Flat<T> = { [Name in keyof T]: T[Name] };

/** Defaulted fields are there. */
export type ReadOfFields<F extends Fields> = Flat<
  { readonly [Name in NamesOf<F, 'required' | 'defaulted'>]: ReadOfSchema<F[Name]> } & {
    readonly [Name in NamesOf<F, 'optional'>]?: ReadOfSchema<F[Name]>;
  }
>;

/** Defaulted fields may be left out. */
export type WriteOfFields<F extends Fields> = Flat<
  { readonly [Name in NamesOf<F, 'required'>]: WriteOfSchema<F[Name]> } & {
    readonly [Name in NamesOf<F, 'optional' | 'defaulted'>]?: WriteOfSchema<F[Name]>;
  }
>;

/** An object of known fields; others are dropped by the API server. */
export class ObjectSchema<F extends Fields, P extends Presence = 'required'> extends SchemaBuilder<
  ReadOfFields<F>,
  WriteOfFields<F>,
  P
> {
  /** One value to server-side apply: who writes a part of it owns all of it. */
  atomic(): this {
    return this.with({ 'x-kubernetes-map-type': 'atomic' });
  }
}

export function objectSchema<const F extends Fields>(fields: F): ObjectSchema<F> {
  return new ObjectSchema<F>(objectJson(fields), 'required');
}

export function objectJson(fields: Fields): JsonSchema {
  const required = Object.keys(fields).filter((name) => fields[name]?.presence === 'required');
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.json])),
  };
}

/** A map from names that are not known beforehand. */
export class MapSchema<S extends AnySchema, P extends Presence = 'required'> extends SchemaBuilder<
  Readonly<Record<string, ReadOfSchema<S>>>,
  Readonly<Record<string, WriteOfSchema<S>>>,
  P
> {
  minProperties(count: number): this {
    return this.with({ minProperties: count });
  }

  maxProperties(count: number): this {
    return this.with({ maxProperties: count });
  }

  /** One value to server-side apply: who writes a part of it owns all of it. */
  atomic(): this {
    return this.with({ 'x-kubernetes-map-type': 'atomic' });
  }
}
