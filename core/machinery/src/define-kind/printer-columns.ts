import type { PrinterColumn } from '../kinds/custom-resource-definition.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { type FieldError, fieldError } from '../validation/field-error.js';

/** A column of `kubectl get`. Its type is that of the field unless told. */
export type Column = Omit<PrinterColumn, 'type'> & { readonly type?: string };

/** What every object has besides the schema of its kind. */
const metadataTypes: Readonly<Record<string, string>> = {
  '.metadata.creationTimestamp': 'date',
  '.metadata.name': 'string',
  '.metadata.namespace': 'string',
  '.metadata.generation': 'integer',
};

export function printerColumn({ name, type, jsonPath, ...more }: Column, schema: JsonSchema): PrinterColumn {
  return { name, type: type ?? typeAt(schema, jsonPath), jsonPath, ...more };
}

/** A column that would always be empty. Paths with filters or indices are left to the API server. */
export function columnErrors(column: Column, schema: JsonSchema): readonly FieldError[] {
  const { name, jsonPath } = column;
  const isChecked = isSimple(jsonPath) && !jsonPath.startsWith('.metadata');
  if (!isChecked || schemaAt(schema, jsonPath) !== undefined) return [];
  return [fieldError.invalid(`columns[${name}].jsonPath`, jsonPath, 'the schema has no such field')];
}

function typeAt(schema: JsonSchema, jsonPath: string): string {
  const found = isSimple(jsonPath) ? schemaAt(schema, jsonPath) : undefined;
  if (found?.format === 'date-time') return 'date';
  const type = found?.type ?? '';
  return metadataTypes[jsonPath] ?? (['boolean', 'integer', 'number'].includes(type) ? type : 'string');
}

function isSimple(jsonPath: string): boolean {
  return /^(?:\.[A-Za-z_][\w-]*)+$/.test(jsonPath);
}

/** Under what keeps unknown fields, anything may be: an empty schema. */
function schemaAt(schema: JsonSchema, jsonPath: string): JsonSchema | undefined {
  let here: JsonSchema | undefined = schema;
  for (const name of jsonPath.slice(1).split('.')) {
    if (here?.['x-kubernetes-preserve-unknown-fields']) return {};
    const others: JsonSchema | boolean | undefined = here?.additionalProperties;
    const properties: Readonly<Record<string, JsonSchema>> = here?.properties ?? {};
    here = Object.hasOwn(properties, name) ? properties[name] : typeof others === 'object' ? others : undefined;
  }
  return here;
}
