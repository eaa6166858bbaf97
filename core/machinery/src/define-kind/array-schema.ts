import {
  type AnySchema,
  type Presence,
  type ReadOfSchema,
  SchemaBuilder,
  type WriteOfSchema,
} from './schema-builder.js';

/** A list. To server-side apply it is one value, unless it is a `set` or a list `by` keys. */
export class ArraySchema<S extends AnySchema, P extends Presence = 'required'> extends SchemaBuilder<
  readonly ReadOfSchema<S>[],
  readonly WriteOfSchema<S>[],
  P
> {
  minItems(count: number): this {
    return this.with({ minItems: count });
  }

  maxItems(count: number): this {
    return this.with({ maxItems: count });
  }

  /** No value occurs twice, and each has an owner of its own. */
  set(): this {
    return this.with({ 'x-kubernetes-list-type': 'set' });
  }

  /** A map written as a list: these fields tell its items apart. Each is required in an item, or has a default. */
  by(...keys: readonly (string & keyof ReadOfSchema<S>)[]): this {
    return this.with({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
  }

  atomic(): this {
    return this.with({ 'x-kubernetes-list-type': 'atomic' });
  }
}
