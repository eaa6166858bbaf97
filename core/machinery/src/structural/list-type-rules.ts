import type { JsonSchema } from '../schema/json-schema.js';
import { type FieldError, fieldError } from '../validation/field-error.js';
import { walkSchema } from './walk-schema.js';

/** The rules of `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type`. */
export function listTypeErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return walkSchema(schema, path).flatMap((each) => [
    ...mapTypeErrors(each.schema, each.path),
    ...listErrors(each.schema, each.path),
  ]);
}

function mapTypeErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  if (mapType !== 'atomic' && mapType !== 'granular') {
    return [fieldError.notSupported(`${path}.x-kubernetes-map-type`, mapType, ['granular', 'atomic'])];
  }
  return wrongType(schema, 'object', `${path}.type`, 'must be object if x-kubernetes-map-type is specified');
}

function listErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const listTypePath = `${path}.x-kubernetes-list-type`;
  if (listType === undefined) {
    return keys.length === 0
      ? []
      : [fieldError.required(listTypePath, 'must be map if x-kubernetes-list-map-keys is non-empty')];
  }
  if (!['atomic', 'set', 'map'].includes(listType)) {
    return [fieldError.notSupported(listTypePath, listType, ['atomic', 'set', 'map'])];
  }
  const errors = [
    ...wrongType(schema, 'array', `${path}.type`, 'must be array if x-kubernetes-list-type is specified'),
  ];
  if (listType !== 'map' && keys.length > 0) {
    errors.push(fieldError.invalid(listTypePath, listType, 'must be map if x-kubernetes-list-map-keys is non-empty'));
  }
  if (listType === 'set') errors.push(...setErrors(schema, path));
  if (listType === 'map') errors.push(...mapErrors(schema, keys, path));
  return errors;
}

function wrongType(schema: JsonSchema, wanted: string, path: string, detail: string): readonly FieldError[] {
  const { type = '' } = schema;
  if (type === wanted) return [];
  return [type === '' ? fieldError.required(path, detail) : fieldError.invalid(path, type, detail)];
}

/** The items of a set are compared whole: each must be one value to all who write it. */
function setErrors({ items }: JsonSchema, path: string): readonly FieldError[] {
  if (items === undefined) return [];
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const errors: FieldError[] = [];
  if (items.nullable) {
    errors.push(
      fieldError.forbidden(`${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is set'),
    );
  }
  const mapType = items['x-kubernetes-map-type'];
  if (items.type === 'object' && mapType !== 'atomic') {
    errors.push(fieldError.invalid(`${path}.items.x-kubernetes-map-type`, mapType ?? null, detail));
  }
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(fieldError.invalid(`${path}.items.x-kubernetes-list-type`, listType, detail));
  }
  return errors;
}

function mapErrors({ items }: JsonSchema, keys: readonly string[], path: string): readonly FieldError[] {
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) {
    return [fieldError.required(keysPath, 'must not be empty if x-kubernetes-list-type is map')];
  }
  if (items === undefined) {
    return [fieldError.required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  }
  const typeErrors = wrongType(
    items,
    'object',
    `${path}.items.type`,
    "must be object if parent array's x-kubernetes-list-type is map",
  );
  const duplicates = keys.filter((key, index) => keys.indexOf(key) < index);
  return [
    ...typeErrors,
    ...duplicates.map((key) => fieldError.duplicate(keysPath, key)),
    ...keys.flatMap((key) => keyErrors(items, key, keys, path)),
  ];
}

function keyErrors(items: JsonSchema, key: string, keys: readonly string[], path: string): readonly FieldError[] {
  const properties = items.properties ?? {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) {
    return [
      fieldError.invalid(`${path}.x-kubernetes-list-map-keys`, keys, 'entries must all be names of item properties'),
    ];
  }
  const at = `${path}.items.properties[${key}]`;
  const errors: FieldError[] = [];
  if (property.type === 'array' || property.type === 'object') {
    errors.push(
      fieldError.invalid(
        `${at}.type`,
        property.type,
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      ),
    );
  }
  if (property.nullable) {
    errors.push(
      fieldError.forbidden(
        `${at}.nullable`,
        'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      ),
    );
  }
  if (property.default === undefined && !items.required?.includes(key)) {
    errors.push(
      fieldError.required(
        `${at}.default`,
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ),
    );
  }
  return errors;
}
