import { dns1123SubdomainErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, record, records, text } from '../json.js';
import { keyProblems } from '../strategies/config-data.js';
import { fieldReferenceErrors, resourceReferenceErrors, variableFields } from './reference-rules.js';
import { localPathErrors, requiredText } from './scalar-rules.js';

const sourceText =
  'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
const variableText = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const manyText = 'may not have more than one field specified at a time';

/** The rules of a container's variables. */
export function environmentErrors(container: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...records(container.env).flatMap((variable, index) => variableErrors(variable, `${path}.env[${index}]`)),
    ...records(container.envFrom).flatMap((source, index) => sourceErrors(source, `${path}.envFrom`, index)),
  ];
}

function variableErrors({ name, value, valueFrom }: JsonRecord, path: string): readonly FieldError[] {
  const own = text(name) ?? '';
  return [
    ...(own === '' ? [fieldError.required(`${path}.name`)] : variableNameErrors(own, `${path}.name`)),
    ...(valueFrom === undefined ? [] : valueErrors(record(valueFrom), text(value) ?? '', `${path}.valueFrom`)),
  ];
}

function variableNameErrors(name: string, path: string): readonly FieldError[] {
  return /^[ -<>-~]+$/.test(name) ? [] : [fieldError.invalid(path, name, variableText)];
}

function valueErrors(valueFrom: JsonRecord, value: string, path: string): readonly FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef];
  const given = sources.filter((source) => source !== undefined).length;
  return [
    ...(fieldRef === undefined ? [] : fieldReferenceErrors(record(fieldRef), variableFields, `${path}.fieldRef`)),
    ...(resourceFieldRef === undefined
      ? []
      : resourceReferenceErrors(record(resourceFieldRef), `${path}.resourceFieldRef`, false)),
    ...(configMapKeyRef === undefined ? [] : keyErrors(record(configMapKeyRef), `${path}.configMapKeyRef`)),
    ...(secretKeyRef === undefined ? [] : keyErrors(record(secretKeyRef), `${path}.secretKeyRef`)),
    ...(fileKeyRef === undefined ? [] : fileKeyErrors(record(fileKeyRef), `${path}.fileKeyRef`)),
    ...(given === 0
      ? [fieldError.invalid(path, '', sourceText)]
      : value !== ''
        ? [fieldError.invalid(path, '', 'may not be specified when `value` is not empty')]
        : given > 1
          ? [fieldError.invalid(path, '', manyText)]
          : []),
  ];
}

function keyErrors({ name, key }: JsonRecord, path: string): readonly FieldError[] {
  const object = text(name) ?? '';
  const entry = text(key) ?? '';
  return [
    ...dns1123SubdomainErrors(object).map((problem) => fieldError.invalid(`${path}.name`, object, problem)),
    ...(entry === ''
      ? [fieldError.required(`${path}.key`)]
      : keyProblems(entry).map((problem) => fieldError.invalid(`${path}.key`, entry, problem))),
  ];
}

function fileKeyErrors({ volumeName, path: file, key }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...requiredText(volumeName, `${path}.volumeName`),
    ...requiredText(file, `${path}.path`),
    ...localPathErrors(file, `${path}.path`),
    ...requiredText(key, `${path}.key`),
  ];
}

function sourceErrors(source: JsonRecord, path: string, index: number): readonly FieldError[] {
  const own = `${path}[${index}]`;
  const prefix = text(source.prefix) ?? '';
  const given = (['configMapRef', 'secretRef'] as const).filter((kind) => source[kind] !== undefined);
  return [
    ...(prefix === '' ? [] : variableNameErrors(prefix, `${own}.prefix`)),
    ...given.flatMap((kind) => sourceNameErrors(text(record(source[kind]).name) ?? '', `${own}.${kind}.name`)),
    ...(given.length === 0
      ? [fieldError.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')]
      : given.length > 1
        ? [fieldError.invalid(path, '', manyText)]
        : []),
  ];
}

/** A name or the beginning of one, which may end in a hyphen. */
function sourceNameErrors(name: string, path: string): readonly FieldError[] {
  if (name === '') return [fieldError.required(path)];
  const masked = name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
  return dns1123SubdomainErrors(masked).map((problem) => fieldError.invalid(path, name, problem));
}
