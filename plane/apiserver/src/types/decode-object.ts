import { isRecord, type JsonRecord } from '../json.js';
import { type FieldType, type ObjectType, objectType, typeNameOf } from './field-types.js';
import { isRequired } from './required-fields.js';
import { specialValue } from './special-values.js';
import { unmarshalProblem } from './unmarshal-problem.js';
import { withWrittenZeros } from './written-zeros.js';

/** A body of a built-in kind as Go would have decoded it. */
export interface DecodedObject {
  /** Without what the kind has no field for, without nulls, and without the empty values that say nothing. */
  readonly object: JsonRecord;
  /** `spec.containers[0].odd`, in the order of the text. */
  readonly unknownFields: readonly string[];
  /** The first value of a wrong type, in the words of Go: `json: cannot unmarshal string into Go struct field …`. */
  readonly problem: string | undefined;
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Decodes an object of a built-in kind; undefined when the kind's fields are not known here.
 *
 * @param problemOf says what is wrong with a value of a wrong type.
 */
export function decodeObject(
  kindOf: Kind,
  value: JsonRecord,
  problemOf: ProblemOf = unmarshalProblem,
): DecodedObject | undefined {
  const type = objectType(typeNameOf(kindOf));
  if (type === undefined) return undefined;
  const decoder = new Decoder(problemOf);
  const { apiVersion, kind, ...fields } = value;
  const object = { kind, apiVersion, ...decoder.fields(fields, type, { path: '', goPath: '' }) };
  return { object, unknownFields: decoder.unknownFields, problem: decoder.problem };
}

interface Place {
  /** `spec.containers[0].image` */
  readonly path: string;
  /** `PodSpec.spec.containers`: the type that has the field, and the way there without indices. */
  readonly goPath: string;
}

/** A value that says nothing. */
const absent = Symbol('absent');

type ProblemOf = typeof unmarshalProblem;

class Decoder {
  readonly #problemOf: ProblemOf;
  readonly unknownFields: string[] = [];
  problem: string | undefined;

  constructor(problemOf: ProblemOf) {
    this.#problemOf = problemOf;
  }

  fields(value: JsonRecord, type: ObjectType, place: Place): JsonRecord {
    const decoded: Record<string, unknown> = {};
    for (const [name, child] of Object.entries(value)) {
      const field = type.byName.get(name);
      const path = place.path === '' ? name : `${place.path}.${name}`;
      if (field === undefined && isKindOfObject(name, type)) {
        decoded[name] = child;
        continue;
      }
      if (field === undefined) {
        this.unknownFields.push(path);
        continue;
      }
      if (child === null && field.type !== 'Json') continue;
      const goPath = place.goPath === '' ? name : `${place.goPath}.${name}`;
      const result = this.#field(child, field, type, { path, goPath });
      if (result !== absent) decoded[name] = result;
    }
    return withWrittenZeros(type.name, decoded);
  }

  #field(value: unknown, field: FieldType, owner: ObjectType, place: Place): unknown {
    switch (field.shape) {
      case 'list':
        if (!Array.isArray(value)) return this.#mismatch(value, field, owner, place);
        if (value.length === 0 && !isRequired(owner.name, field.name)) return absent;
        return value.map((item, index) =>
          this.#value(item, field, owner, { ...place, path: `${place.path}[${index}]` }),
        );
      case 'map':
        if (!isRecord(value)) return this.#mismatch(value, field, owner, place);
        if (Object.keys(value).length === 0 && !isRequired(owner.name, field.name)) return absent;
        return Object.fromEntries(
          Object.entries(value).map(([name, item]) => [
            name,
            this.#value(item, field, owner, { ...place, path: `${place.path}.${name}` }),
          ]),
        );
      case 'one': {
        const decoded = this.#value(value, field, owner, place);
        return field.isEmptyAbsent && (decoded === '' || decoded === 0 || decoded === false) ? absent : decoded;
      }
    }
  }

  #value(value: unknown, field: FieldType, owner: ObjectType, place: Place): unknown {
    switch (field.type) {
      case 'string':
        return value === null ? '' : typeof value === 'string' ? value : this.#mismatch(value, field, owner, place);
      case 'bool':
        return typeof value === 'boolean' ? value : this.#mismatch(value, field, owner, place);
      case 'int32':
        return isInteger(value, mostInt32) ? value : this.#mismatch(value, field, owner, place);
      case 'int64':
        return isInteger(value, mostInt64) ? value : this.#mismatch(value, field, owner, place);
      case 'IntOrString':
        if (typeof value === 'string') return value;
        return isInteger(value, mostInt32)
          ? value
          : this.#mismatch(value, { ...field, type: 'int32', shape: 'one' }, owner, place);
      case 'double':
        return typeof value === 'number' || typeof value === 'bigint'
          ? value
          : this.#mismatch(value, field, owner, place);
      default:
        return this.#object(value, field, owner, place);
    }
  }

  #object(value: unknown, field: FieldType, owner: ObjectType, place: Place): unknown {
    const special = specialValue(field.type, value);
    if (special !== undefined) {
      if ('value' in special) return special.value;
      this.problem ??= special.problem;
      return value;
    }
    const type = objectType(field.type);
    // Times and the like have rules of their own, which validation knows.
    if (type === undefined) return value;
    if (schemaChoices.has(field.type)) return this.#schemaChoice(value, place);
    if (value === null) return {};
    if (!isRecord(value)) return isTexts(type) ? value : this.#mismatch(value, field, owner, place);
    return this.fields(value, type, place);
  }

  /** JSON schemas have fields that are a schema, or a list of schemas or texts, or a boolean. */
  #schemaChoice(value: unknown, place: Place): unknown {
    const schema = objectType('apiextensions/v1.JSONSchemaProps');
    const decoded = (each: unknown, at: Place) =>
      isRecord(each) && schema !== undefined ? this.fields(each, schema, at) : each;
    if (!Array.isArray(value)) return decoded(value, place);
    return value.map((each, index) => decoded(each, { ...place, path: `${place.path}[${index}]` }));
  }

  #mismatch(value: unknown, field: FieldType, owner: ObjectType, { goPath }: Place): unknown {
    this.problem ??= this.#problemOf(value, field, { owner: owner.name, path: goPath });
    return value;
  }
}

const mostInt32 = 2 ** 31;
const mostInt64 = 2 ** 63;

/** Whether a value is an integer in [-limit, limit). */
function isInteger(value: unknown, limit: number): boolean {
  const isNumber = Number.isInteger(value) || typeof value === 'bigint';
  return isNumber && Number(value) >= -limit && (typeof value === 'bigint' ? value : Number(value)) < limit;
}

const schemaChoices: ReadonlySet<string> = new Set([
  'apiextensions/v1.JSONSchemaPropsOrArray',
  'apiextensions/v1.JSONSchemaPropsOrBool',
  'apiextensions/v1.JSONSchemaPropsOrStringArray',
]);

/** Objects within objects (claims of a StatefulSet) say what they are in fields that protobuf has elsewhere. */
function isKindOfObject(name: string, type: ObjectType): boolean {
  return (name === 'kind' || name === 'apiVersion') && type.byName.get('metadata')?.type === 'meta/v1.ObjectMeta';
}

/** A message that is only a list of texts, for protobuf's sake. */
function isTexts(type: ObjectType): boolean {
  return type.name.endsWith('.ExtraValue');
}
