import type { CustomResourceDefinition } from '../kinds/custom-resource-definition.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { canonicalJson } from '../value/canonical-json.js';
import { quantityPattern } from './well-known-schemas.js';

/** The fields of each version of a kind as Markdown, one row each, with what is demanded of them. */
export function referencePage({ spec }: CustomResourceDefinition): string {
  const { kind, plural, shortNames = [] } = spec.names;
  const names = [plural, ...shortNames].map((name) => `\`${name}\``).join(', ');
  const lines = [`# ${kind}`, '', `API group \`${spec.group}\`, ${spec.scope.toLowerCase()}, ${names} to kubectl.`];
  for (const { name, schema, storage, deprecated } of spec.versions) {
    const root = schema?.openAPIV3Schema ?? {};
    const marks = [...(storage ? [] : ['converted']), ...(deprecated ? ['deprecated'] : [])];
    lines.push('', `## ${name}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`);
    if (root.description !== undefined) lines.push('', root.description);
    for (const part of ['spec', 'status']) {
      const of = root.properties?.[part];
      if (of === undefined) continue;
      lines.push('', `### ${part}`, '', '| Field | Type | | What it is |', '|---|---|---|---|');
      lines.push(...rowsUnder(of, '').map((row) => `| ${row.map(inCell).join(' | ')} |`));
    }
    const rules = demandsOf({ 'x-kubernetes-validations': root['x-kubernetes-validations'] ?? [] });
    if (rules.length > 0) lines.push('', ...rules.map((rule) => `- ${rule}`));
  }
  return `${lines.join('\n')}\n`;
}

type Row = readonly string[];

/** `members[].name` for what is in the items of a list, `labels.*` for the values of a map. */
function rowsUnder(schema: JsonSchema, path: string): readonly Row[] {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]): readonly Row[] => {
    const at = path === '' ? name : `${path}.${name}`;
    const presence =
      field.default !== undefined
        ? `default ${inCode(canonicalJson(field.default))}`
        : required.has(name)
          ? 'required'
          : '';
    return [[inCode(at), typeName(field), presence, wordsOf(field)], ...rowsUnder(field, at)];
  });
  const { items, additionalProperties } = schema;
  return [
    ...fields,
    ...(items === undefined ? [] : rowsUnder(items, `${path}[]`)),
    ...(typeof additionalProperties === 'object' ? rowsUnder(additionalProperties, `${path}.*`) : []),
  ];
}

function typeName(schema: JsonSchema): string {
  if (schema['x-kubernetes-int-or-string']) return isQuantity(schema) ? 'quantity' : 'integer or string';
  if (schema['x-kubernetes-embedded-resource']) return 'an object of any kind';
  if (schema.items !== undefined) return `list of ${typeName(schema.items)}`;
  if (typeof schema.additionalProperties === 'object') return `map to ${typeName(schema.additionalProperties)}`;
  const name = schema.format === undefined ? (schema.type ?? 'any') : `${schema.type} (${schema.format})`;
  return schema.nullable ? `${name} or null` : name;
}

function wordsOf(schema: JsonSchema): string {
  const { description } = schema;
  return [...(description === undefined ? [] : [description]), ...demandsOf(schema)].join(' ');
}

/** What is demanded of a value beside its type, each in a sentence. */
function demandsOf(schema: JsonSchema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const demands = [
    ...(schema.enum === undefined ? [] : [`One of ${schema.enum.map((each) => inCode(String(each))).join(', ')}.`]),
    ...bound('', minimum, maximum),
    ...bound(' characters', minLength, maxLength),
    ...bound(' items', minItems, maxItems),
    ...(schema.pattern === undefined || isQuantity(schema) ? [] : [`Matches ${inCode(schema.pattern)}.`]),
    ...(schema['x-kubernetes-list-map-keys'] === undefined
      ? []
      : [`Items differ by ${schema['x-kubernetes-list-map-keys'].map(inCode).join(', ')}.`]),
  ];
  const rules = schema['x-kubernetes-validations'] ?? [];
  return [...demands, ...rules.map(({ rule, message }) => `Rule: ${message ?? inCode(rule)}.`)];
}

function isQuantity({ pattern }: JsonSchema): boolean {
  return pattern === quantityPattern;
}

function bound(unit: string, least: number | undefined, most: number | undefined): readonly string[] {
  if (least === undefined && most === undefined) return [];
  if (most === undefined) return [`At least ${least}${unit}.`];
  return [least === undefined ? `At most ${most}${unit}.` : `From ${least} to ${most}${unit}.`];
}

function inCode(text: string): string {
  return `\`${text}\``;
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
