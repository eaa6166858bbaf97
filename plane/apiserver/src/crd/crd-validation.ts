import {
  checkStructural,
  deepEqual,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  loadEnginesFor,
} from '@castellan/machinery';
import { type ApiObject, at, list, record, records, text } from '../json.js';
import { conversionErrors } from './conversion-rules.js';
import { servedVersions } from './custom-resources.js';
import { isSchema } from './custom-strategy.js';
import { approvalErrors, nameErrors } from './definition-names.js';
import { versionFieldErrors } from './version-rules.js';

/** The rules of a CustomResourceDefinition, in kube-apiserver's words. */
export async function validateDefinition(crd: ApiObject, current?: ApiObject): Promise<readonly FieldError[]> {
  for (const version of records(at(crd, 'spec', 'versions'))) {
    const schema = at(version, 'schema', 'openAPIV3Schema');
    if (isSchema(schema)) await loadEnginesFor(schema);
  }
  const spec = record(crd.spec);
  const names = record(spec.names);
  const name = crd.metadata.name ?? '';
  const errors: FieldError[] = [];
  // What the name is made of cannot change later: that is said of the field itself.
  if (current === undefined && name !== `${text(names.plural)}.${text(spec.group)}`) {
    errors.push(fieldError.invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  errors.push(...groupErrors(text(spec.group) ?? ''));
  if (isMissing(names.plural)) errors.push(fieldError.required('spec.names.plural'));
  if (isMissing(names.kind)) errors.push(fieldError.required('spec.names.kind'));
  if (!isMissing(names.kind) && names.kind === names.listKind) {
    errors.push(fieldError.invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'));
  }
  errors.push(...nameErrors(names));
  if (spec.preserveUnknownFields === true && at(current, 'spec', 'preserveUnknownFields') !== true) {
    errors.push(fieldError.invalid('spec.preserveUnknownFields', true, noPreserving));
  }
  if (current === undefined) errors.push(...approvalErrors(crd));
  const scope = text(spec.scope) ?? '';
  if (scope === '') errors.push(fieldError.required('spec.scope'));
  else if (!scopes.includes(scope)) errors.push(fieldError.notSupported('spec.scope', scope, scopes));
  return [...errors, ...versionErrors(crd), ...conversionErrors(crd)];
}

function groupErrors(group: string): readonly FieldError[] {
  if (group === '') return [fieldError.required('spec.group')];
  const problems = dns1123SubdomainErrors(group);
  if (problems.length > 0) return [fieldError.invalid('spec.group', group, problems.join(','))];
  if (group.includes('.')) return [];
  return [fieldError.invalid('spec.group', group, 'should be a domain with at least one dot')];
}

const noPreserving =
  'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';

const scopes = ['Cluster', 'Namespaced'];

function versionErrors(crd: ApiObject): readonly FieldError[] {
  const versions = records(at(crd, 'spec', 'versions'));
  const schemas = versions.map((version) => at(version, 'schema', 'openAPIV3Schema'));
  // Upstream names the schema of a version by its index only where versions differ.
  const areSame = schemas.every((schema) => deepEqual(schema, schemas[0]));
  const errors = schemas.flatMap((schema, index) => {
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    if (!isSchema(schema)) return [fieldError.required(path, 'schemas are required')];
    if (areSame) return index === 0 ? checkStructural(schema) : [];
    return checkStructural(schema, path);
  });
  const shown = versions.map((version) => text(version.name) ?? '');
  errors.push(...versionFieldErrors(versions));
  if (new Set(shown).size < shown.length) {
    errors.push(fieldError.invalid('spec.versions', shown, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(fieldError.invalid('spec.versions', shown, 'must have exactly one version marked as storage version'));
  }
  if (servedVersions(crd).length === 0) {
    errors.push(fieldError.invalid('spec.versions', shown, 'must have at least one served version'));
  }
  return errors;
}

/** What objects are stored by may not change under them. */
export function validateDefinitionUpdate(crd: ApiObject, current: ApiObject): readonly FieldError[] {
  const fixed = [['group'], ['scope'], ['names', 'kind'], ['names', 'plural']].flatMap((path) => {
    const value = at(crd, 'spec', ...path);
    if (value === at(current, 'spec', ...path)) return [];
    return [fieldError.invalid(`spec.${path.join('.')}`, value, 'field is immutable')];
  });
  return [...fixed, ...lostVersionErrors(crd)];
}

function lostVersionErrors(crd: ApiObject): readonly FieldError[] {
  const versions = records(at(crd, 'spec', 'versions')).map(({ name }) => name);
  return list(at(crd, 'status', 'storedVersions')).flatMap((version, index) =>
    versions.includes(version)
      ? []
      : [
          fieldError.invalid(
            `status.storedVersions[${index}]`,
            version,
            `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
          ),
        ],
  );
}

function isMissing(value: unknown): boolean {
  return text(value) === undefined || value === '';
}
