import { type FieldError, fieldError } from '@castellan/machinery';
import { count, type JsonRecord, record, records, text } from '../json.js';
import { selectorErrors } from '../strategies/label-selector.js';
import { fieldReferenceErrors, fileFields, resourceReferenceErrors } from './reference-rules.js';
import { modeErrors, requiredText, volumeFileErrors } from './scalar-rules.js';

/** An entry of a ConfigMap or a secret as a file. */
export function keyPathErrors({ key, path: file, mode }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...requiredText(key, `${path}.key`),
    ...requiredText(file, `${path}.path`),
    ...volumeFileErrors(file, `${path}.path`),
    ...modeErrors(mode, `${path}.mode`),
  ];
}

/** Fields of the pod as files; upstream tells what is wrong of the list, not of its items. */
export function downwardErrors({ items }: JsonRecord, path: string): readonly FieldError[] {
  return records(items).flatMap(({ path: file, fieldRef, resourceFieldRef, mode }) => [
    ...requiredText(file, `${path}.path`),
    ...volumeFileErrors(file, `${path}.path`),
    ...(fieldRef === undefined ? [] : fieldReferenceErrors(record(fieldRef), fileFields, `${path}.fieldRef`)),
    ...(fieldRef !== undefined && resourceFieldRef !== undefined
      ? [fieldError.invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
      : []),
    ...(fieldRef === undefined && resourceFieldRef !== undefined
      ? resourceReferenceErrors(record(resourceFieldRef), `${path}.resourceFieldRef`, true)
      : []),
    ...(fieldRef === undefined && resourceFieldRef === undefined
      ? [fieldError.required(path, 'one of fieldRef and resourceFieldRef is required')]
      : []),
    ...modeErrors(mode, `${path}.mode`),
  ]);
}

/** The rules of a volume that shows several sources in one place. */
export function projectedErrors({ defaultMode, sources }: JsonRecord, path: string): readonly FieldError[] {
  const paths = new Set<string>();
  const conflict = (file: unknown, shown: unknown): readonly FieldError[] => {
    const name = text(file) ?? '';
    if (name === '') return [];
    if (paths.has(name)) return [fieldError.invalid(path, shown, 'conflicting duplicate paths')];
    paths.add(name);
    return [];
  };
  return [
    ...modeErrors(defaultMode, `${path}.defaultMode`),
    ...records(sources).flatMap((source, index) => {
      const own = `${path}.sources[${index}]`;
      const given = sourceKinds.filter((kind) => source[kind] !== undefined);
      return [
        ...given.flatMap((kind) => sourceRules(kind, record(source[kind]), { path, own: `${own}.${kind}`, conflict })),
        ...(given.length > 1 ? [fieldError.forbidden(own, 'may not specify more than 1 volume type per source')] : []),
      ];
    }),
  ];
}

const sourceKinds = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle'] as const;

interface SourcePlace {
  /** Of the volume. */
  readonly path: string;
  /** Of the source. */
  readonly own: string;
  conflict(file: unknown, shown: unknown): readonly FieldError[];
}

function sourceRules(
  kind: (typeof sourceKinds)[number],
  source: JsonRecord,
  { path, own, conflict }: SourcePlace,
): readonly FieldError[] {
  switch (kind) {
    case 'secret':
    case 'configMap':
      return [
        ...requiredText(source.name, `${own}.name`),
        ...records(source.items).flatMap((item, index) => [
          ...keyPathErrors(item, `${own}.items[${index}]`),
          ...conflict(item.path, source.name ?? ''),
        ]),
      ];
    case 'downwardAPI':
      return records(source.items).flatMap((item) => [
        ...downwardErrors({ items: [item] }, own),
        ...conflict(item.path, item.path),
      ]);
    case 'serviceAccountToken':
      return tokenErrors(source, own, path);
    case 'clusterTrustBundle':
      return [...bundleErrors(source, own), ...conflict(source.path, source.path)];
  }
}

const shortestToken = 600;
const longestToken = 2 ** 32;

function tokenErrors({ expirationSeconds, path: file }: JsonRecord, own: string, path: string): readonly FieldError[] {
  const seconds = count(expirationSeconds) ?? 0;
  const place = `${own}.expirationSeconds`;
  return [
    ...(seconds < shortestToken
      ? [fieldError.invalid(place, seconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(seconds > longestToken
      ? [fieldError.invalid(place, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
    ...requiredText(file, `${path}.path`),
    ...volumeFileErrors(file, `${path}.path`),
  ];
}

function bundleErrors({ name, signerName, labelSelector, path: file }: JsonRecord, own: string): readonly FieldError[] {
  const filePath = `${own}.path`;
  return [
    ...(name === undefined && signerName === undefined
      ? [fieldError.required(own, 'either name or signerName must be specified')]
      : []),
    ...(name === '' ? [fieldError.required(`${own}.name`, 'must be a valid object name')] : []),
    ...(name !== undefined && labelSelector !== undefined
      ? [fieldError.invalid(`${own}.labelSelector`, labelSelector, 'labelSelector must be unset if name is specified')]
      : []),
    ...(signerName === '' ? [fieldError.required(`${own}.signerName`, 'must be a valid signer name')] : []),
    ...(signerName === undefined ? [] : selectorErrors(labelSelector, `${own}.labelSelector`)),
    ...requiredText(file, filePath),
    ...volumeFileErrors(file, filePath),
  ];
}
