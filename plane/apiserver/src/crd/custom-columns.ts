import { type JsonRecord, text } from '../json.js';
import { age, nameOf, since } from '../printers/cells.js';
import { type Column, column } from '../printers/column.js';
import { evaluateJsonPath, parseJsonPath } from '../printers/json-path.js';

/** The columns of `additionalPrinterColumns`: a name column first, then what the definition says. */
export function customColumns(declared: readonly JsonRecord[]): readonly Column[] {
  return [column('Name', nameOf, { format: 'name' }), ...declared.map(declaredColumn)];
}

function declaredColumn(declared: JsonRecord): Column {
  const name = text(declared.name) ?? '';
  const type = text(declared.type) ?? 'string';
  const jsonPath = text(declared.jsonPath) ?? '';
  const options = {
    type: type === 'date' ? 'date' : type,
    format: text(declared.format) ?? '',
    priority: typeof declared.priority === 'number' ? declared.priority : 0,
    description: text(declared.description) ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  };
  if (jsonPath === '.metadata.creationTimestamp') return column(name, age, options);
  const path = parseJsonPath(jsonPath);
  return column(
    name,
    (object, nowMs) => {
      const [first] = path === undefined ? [] : evaluateJsonPath(path, object);
      if (first === undefined || first === null) return null;
      return type === 'date' ? since(first, nowMs) : cellOf(first, type);
    },
    options,
  );
}

/** A value that is not of the column's type is not shown; text shows anything. */
function cellOf(value: unknown, type: string): unknown {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}
