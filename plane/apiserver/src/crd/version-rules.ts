import { deepEqual, dns1035LabelErrors, type FieldError, fieldError, type JsonSchema } from '@castellan/machinery';
import { type JsonRecord, record, records, text } from '../json.js';
import { isSchema } from './custom-strategy.js';

/**
 * The rules of versions but for their schemas. What is the same in all of them is named without its version, as in
 * upstream's internal type.
 */
export function versionFieldErrors(versions: readonly JsonRecord[]): readonly FieldError[] {
  return [
    ...versions.flatMap(nameErrors),
    ...versions.flatMap(warningErrors),
    ...placed(versions, 'subresources', subresourceErrors),
    ...placed(versions, 'additionalPrinterColumns', columnsErrors),
    ...placed(versions, 'selectableFields', selectableErrors),
  ];
}

type Rule = (value: unknown, path: string, version: JsonRecord) => readonly FieldError[];

function placed(versions: readonly JsonRecord[], field: string, rule: Rule): readonly FieldError[] {
  const [first] = versions;
  if (first === undefined) return [];
  if (versions.every((version) => deepEqual(version[field], first[field]))) {
    return rule(first[field], `spec.${field}`, first);
  }
  return versions.flatMap((version, index) => rule(version[field], `spec.versions[${index}].${field}`, version));
}

function nameErrors({ name }: JsonRecord, index: number): readonly FieldError[] {
  const problems = dns1035LabelErrors(text(name) ?? '');
  if (problems.length === 0) return [];
  return [fieldError.invalid(`spec.versions[${index}].name`, text(name) ?? '', problems.join(','))];
}

const longestWarning = 256;

function warningErrors({ deprecated, deprecationWarning }: JsonRecord, index: number): readonly FieldError[] {
  const warning = text(deprecationWarning);
  if (warning === undefined) return [];
  const unprintable = [...warning].findIndex((character) => /\p{C}|[^\P{Z} ]/u.test(character));
  const problems = [
    ...(deprecated === true ? [] : ['can only be set for deprecated versions']),
    ...(Buffer.byteLength(warning) > longestWarning ? ['must be <= 256 characters long'] : []),
    ...(warning === '' ? ['must not be an empty string'] : []),
    ...(unprintable < 0
      ? []
      : [`must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`]),
  ];
  const field = `spec.versions[${index}].deprecationWarning`;
  return problems.map((problem) => fieldError.invalid(field, warning, problem));
}

function subresourceErrors(value: unknown, path: string): readonly FieldError[] {
  const { scale } = record(value);
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = record(scale);
  const selectorPath = text(labelSelectorPath) ?? '';
  return [
    ...replicasPathErrors(text(specReplicasPath) ?? '', `${path}.scale.specReplicasPath`, '.spec'),
    ...replicasPathErrors(text(statusReplicasPath) ?? '', `${path}.scale.statusReplicasPath`, '.status'),
    ...(selectorPath === '' ? [] : selectorPathErrors(selectorPath, `${path}.scale.labelSelectorPath`)),
  ];
}

function replicasPathErrors(jsonPath: string, field: string, under: string): readonly FieldError[] {
  if (jsonPath === '') return [fieldError.required(field)];
  const errors = simplePathErrors(jsonPath, field);
  if (errors.length > 0 || jsonPath.startsWith(`${under}.`)) return errors;
  return [fieldError.invalid(field, jsonPath, `should be a json path under ${under}`)];
}

function selectorPathErrors(jsonPath: string, field: string): readonly FieldError[] {
  const errors = simplePathErrors(jsonPath, field);
  if (errors.length > 0 || /^\.(?:spec|status)\./.test(jsonPath)) return errors;
  return [fieldError.invalid(field, jsonPath, 'should be a json path under either .status or .spec')];
}

function simplePathErrors(jsonPath: string, field: string): readonly FieldError[] {
  if (jsonPath.startsWith('.')) return [];
  return [fieldError.invalid(field, jsonPath, 'must be a simple json path starting with .')];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnsErrors(value: unknown, path: string): readonly FieldError[] {
  return records(value).flatMap((column, index) => columnErrors(column, `${path}[${index}]`));
}

function columnErrors({ name, type, format, jsonPath }: JsonRecord, path: string): readonly FieldError[] {
  const [typeName, formatName, shownPath] = [text(type) ?? '', text(format) ?? '', text(jsonPath) ?? ''];
  const errors = (text(name) ?? '') === '' ? [fieldError.required(`${path}.name`)] : [];
  const typesWanted = `must be one of ${columnTypes.join(',')}`;
  if (typeName === '') errors.push(fieldError.required(`${path}.type`, typesWanted));
  else if (!columnTypes.includes(typeName)) errors.push(fieldError.invalid(`${path}.type`, typeName, typesWanted));
  if (formatName !== '' && !columnFormats.includes(formatName)) {
    errors.push(fieldError.invalid(`${path}.format`, formatName, `must be one of ${columnFormats.join(',')}`));
  }
  if (shownPath === '') return [...errors, fieldError.required(`${path}.JSONPath`)];
  return [...errors, ...simplePathErrors(shownPath, `${path}.JSONPath`)];
}

const mostSelectable = 8;

function selectableErrors(value: unknown, path: string, version: JsonRecord): readonly FieldError[] {
  const { openAPIV3Schema: schema } = record(version.schema);
  const seen = new Set<string>();
  const errors = records(value).flatMap(({ jsonPath }, index) => {
    const field = `${path}[${index}].jsonPath`;
    const shown = text(jsonPath) ?? '';
    if (shown === '') return [fieldError.required(field)];
    const found = schemaAt(isSchema(schema) ? schema : {}, shown);
    if (found === undefined) {
      return [fieldError.invalid(field, shown, 'is an invalid path: does not refer to a valid field')];
    }
    const own: FieldError[] = [];
    if (/^\.metadata\b/.test(shown)) own.push(fieldError.invalid(field, shown, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(found.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      own.push(fieldError.invalid(field, shown, detail));
    }
    if (seen.has(shown)) own.push(fieldError.duplicate(field, shown));
    seen.add(shown);
    return own;
  });
  return seen.size <= mostSelectable ? errors : [...errors, fieldError.tooMany(path, seen.size, mostSelectable)];
}

/** The schema of a field by its path (`.spec.color`); `undefined` where there is none. */
function schemaAt(schema: JsonSchema, path: string): JsonSchema | undefined {
  if (!/^(?:\.[A-Za-z_][\w-]*)+$/.test(path)) return undefined;
  let here: JsonSchema | undefined = schema;
  for (const name of path.slice(1).split('.')) {
    const { properties = {} }: JsonSchema = here ?? {};
    here = Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  return here;
}
