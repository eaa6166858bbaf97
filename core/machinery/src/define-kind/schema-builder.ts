import type { JsonSchema, ValidationRule } from '../schema/json-schema.js';
import { jsonValueOf } from '../value/json-value.js';

/** Whether a field must be there: `defaulted` ones may be left out when writing and are there when reading. */
export type Presence = 'required' | 'optional' | 'defaulted';

/**
 * A structural schema together with the TypeScript types of its values: `Read` as the API server gives them, `Write` as it takes
 * them. Never changed: each method gives a new one. Those that a kind of value has only (`min`, `pattern`) come before
 * the general ones (`optional`, `default`).
 */
export class SchemaBuilder<out Read, out Write = Read, out P extends Presence = 'required'> {
  /** Exist at compile time only. */
  declare readonly readType?: Read;
  declare readonly writeType?: Write;
  readonly json: JsonSchema;
  readonly presence: P;

  constructor(json: JsonSchema, presence: P) {
    this.json = json;
    this.presence = presence;
  }

  /** The field may be absent. */
  optional(): SchemaBuilder<Read, Write, 'optional'> {
    return new SchemaBuilder<Read, Write, 'optional'>(this.json, 'optional');
  }

  /** May be null, which defaulting then leaves alone. */
  nullable(): SchemaBuilder<Read | null, Write | null, P> {
    const { enum: values } = this.json;
    const json = { ...this.json, nullable: true, ...(values === undefined ? {} : { enum: [...values, null] }) };
    return new SchemaBuilder<Read | null, Write | null, P>(json, this.presence);
  }

  /**
   * What the API server puts in where the field is absent. Of an object, `{}` takes the defaults of its fields: without it
   * they apply only where the object is there.
   */
  default(value: Write): SchemaBuilder<Read, Write, 'defaulted'> {
    const json = { ...this.json, default: jsonValueOf(value) };
    return new SchemaBuilder<Read, Write, 'defaulted'>(json, 'defaulted');
  }

  /**
   * What the program knows of the values beyond the schema, such as of a status that it writes itself. At compile time only:
   * nothing checks it.
   */
  narrow<T extends Read & Write>(): SchemaBuilder<T, T, P> {
    return new SchemaBuilder<T, T, P>(this.json, this.presence);
  }

  /** Shown by `kubectl explain`, in the reference page and in forms. */
  describe(description: string): this {
    return this.with({ description });
  }

  /**
   * A rule in CEL on this value (`self`; `oldSelf` before an update). `message` is what is said where it does not hold; else the
   * rule itself is shown.
   */
  rule(rule: string, message?: string, more: Omit<ValidationRule, 'rule' | 'message'> = {}): this {
    const rules = this.json['x-kubernetes-validations'] ?? [];
    const added = { rule, ...(message === undefined ? {} : { message }), ...more };
    return this.with({ 'x-kubernetes-validations': [...rules, added] });
  }

  /** Once there, the value cannot be changed. An optional field may still be set later, and be removed. */
  immutable(): this {
    return this.rule('self == oldSelf', 'field is immutable');
  }

  /** This schema with some keywords more. */
  protected with(keywords: JsonSchema): this {
    const copy: this = Object.create(Object.getPrototypeOf(this));
    return Object.assign(copy, this, { json: { ...this.json, ...keywords } });
  }
}

export type AnySchema = SchemaBuilder<unknown, unknown, Presence>;

/** The type of values of a schema as the API server gives them. */
export type ReadOfSchema<S extends AnySchema> = S extends SchemaBuilder<infer Read, unknown, Presence> ? Read : never;

/** The type of values of a schema as the API server takes them. */
export type WriteOfSchema<S extends AnySchema> =
  S extends SchemaBuilder<unknown, infer Write, Presence> ? Write : never;
