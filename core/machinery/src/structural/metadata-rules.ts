import type { JsonSchema } from '../schema/json-schema.js';
import { type FieldError, fieldError } from '../validation/field-error.js';
import { type SchemaAt, walkSchema } from './walk-schema.js';

/** Where a resource stands, at the root or embedded, `apiVersion`, `kind` and `metadata` are Kubernetes' own. */
export function metadataErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return walkSchema(schema, path)
    .filter(({ schema: each, role }) => role === 'root' || each['x-kubernetes-embedded-resource'])
    .flatMap((each) => [...identityErrors(each), ...ownMetadataErrors(each)]);
}

function identityErrors({ schema, path }: SchemaAt): readonly FieldError[] {
  return (['kind', 'apiVersion'] as const).flatMap((name) => {
    const property = schema.properties?.[name];
    if (property === undefined || property.type === 'string') return [];
    return [fieldError.invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string')];
  });
}

function ownMetadataErrors({ schema, path, role }: SchemaAt): readonly FieldError[] {
  const metadata = schema.properties?.metadata;
  if (metadata === undefined) return [];
  const at = `${path}.properties[metadata]`;
  const errors: FieldError[] = [];
  if (metadata.type !== 'object') errors.push(fieldError.invalid(`${at}.type`, metadata.type ?? '', 'must be object'));
  if (role === 'root' && !restrictsNamesOnly(metadata)) {
    errors.push(
      fieldError.forbidden(
        at,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  }
  return errors;
}

function restrictsNamesOnly(metadata: JsonSchema): boolean {
  const { type: _type, default: _default, description: _description, properties = {}, ...others } = metadata;
  const names = Object.keys(properties);
  return Object.keys(others).length === 0 && names.every((name) => name === 'name' || name === 'generateName');
}
