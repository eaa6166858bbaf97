import { checkStructural, deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, list, record, records, text, withAt } from '../json.js';
import { type Strategy, timestamp, type WriteContext } from '../registry/strategy.js';
import { servedVersions } from './custom-resources.js';
import { isSchema } from './custom-strategy.js';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** `onMarked` is called with the name of each definition that is to go once its objects are gone. */
export function customResourceDefinitionStrategy(onMarked: (name: string) => void): Strategy {
  return { ...strategy, afterMarked: ({ metadata }) => onMarked(metadata.name ?? '') };
}

const strategy: Strategy = {
  withDefaults: (object) => {
    const spec = record(object.spec);
    const names = record(spec.names);
    const kind = text(names.kind) ?? '';
    const defaulted = {
      conversion: { strategy: 'None' },
      ...spec,
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
    };
    return { ...object, spec: defaulted };
  },

  prepareForCreate: (object, context) => withEstablishment({ ...object, status: {} }, context),

  prepareForUpdate: (object, _current, context) => withEstablishment(object, context),

  validate,

  // Its objects go first: the finalizer is taken off when they are gone.
  prepareForDelete: (object, context) => {
    const { deletionGracePeriodSeconds: _, generation = 1, finalizers = [], ...kept } = object.metadata;
    const held = finalizers.includes(cleanupFinalizer) ? finalizers : [...finalizers, cleanupFinalizer];
    // The mark is not a change of what the definition says: its objects are served until they are gone.
    const metadata = { ...kept, generation: generation - 1, finalizers: held };
    const terminating = condition('Terminating', 'True', 'InstanceDeletionPending', terminatingText, context);
    return { ...object, metadata, status: withCondition(record(object.status), terminating) };
  },
};

const terminatingText = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';

/** One server, no peers to wait for: names are accepted and the resource is established in the same write. */
function withEstablishment(object: ApiObject, context: WriteContext): ApiObject {
  const status = record(object.status);
  const stored = list(status.storedVersions);
  const storageVersion = storageVersionOf(object);
  const withNames = {
    ...status,
    acceptedNames: at(object, 'spec', 'names'),
    storedVersions: stored.includes(storageVersion) ? stored : [...stored, storageVersion],
  };
  const accepted = condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found', context);
  const established = condition(
    'Established',
    'True',
    'InitialNamesAccepted',
    'the initial names have been accepted',
    context,
  );
  return { ...object, status: withCondition(withCondition(withNames, accepted), established) };
}

export function storageVersionOf(crd: ApiObject): string {
  const version = records(at(crd, 'spec', 'versions')).find(({ storage }) => storage === true);
  return text(version?.name) ?? '';
}

function condition(type: string, status: string, reason: string, message: string, { world }: WriteContext): JsonRecord {
  return { type, status, lastTransitionTime: timestamp(world), reason, message };
}

/** Sets a condition; its time changes only when its status does. */
function withCondition(status: JsonRecord, next: JsonRecord): JsonRecord {
  const conditions = records(status.conditions);
  const known = conditions.find(({ type }) => type === next.type);
  if (known !== undefined && known.status === next.status) return status;
  const others = conditions.filter(({ type }) => type !== next.type);
  return withAt(status, ['conditions'], [...others, next]);
}

function validate(crd: ApiObject): readonly FieldError[] {
  const spec = record(crd.spec);
  const names = record(spec.names);
  const name = crd.metadata.name ?? '';
  const errors: FieldError[] = [];
  if (name !== `${text(names.plural)}.${text(spec.group)}`) {
    errors.push(fieldError.invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (isMissing(spec.group)) errors.push(fieldError.required('spec.group'));
  if (isMissing(names.plural)) errors.push(fieldError.required('spec.names.plural'));
  if (isMissing(names.kind)) errors.push(fieldError.required('spec.names.kind'));
  const scope = text(spec.scope) ?? '';
  if (scope === '') errors.push(fieldError.required('spec.scope'));
  else if (!scopes.includes(scope)) errors.push(fieldError.notSupported('spec.scope', scope, scopes));
  return [...errors, ...versionErrors(crd)];
}

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
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(fieldError.invalid('spec.versions', shown, 'must have exactly one version marked as storage version'));
  }
  if (servedVersions(crd).length === 0) {
    errors.push(fieldError.invalid('spec.versions', shown, 'must have at least one served version'));
  }
  return errors;
}

function isMissing(value: unknown): boolean {
  return text(value) === undefined || value === '';
}
