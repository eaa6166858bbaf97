import { type ApiObject, at, type JsonRecord, list, record, records, text, withAt } from '../json.js';
import { type Strategy, timestamp, type WriteContext } from '../registry/strategy.js';
import { decideNames } from './accepted-names.js';
import { validateDefinition, validateDefinitionUpdate } from './crd-validation.js';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export interface DefinitionHooks {
  /** Called with the name of each definition that is to go once its objects are gone. */
  onMarked(name: string): void;
  /** The other definitions of a definition's group. */
  neighbours(crd: ApiObject): Promise<readonly ApiObject[]>;
}

export function customResourceDefinitionStrategy({ onMarked, neighbours }: DefinitionHooks): Strategy {
  return {
    ...strategy,
    prepareForCreate: async (object, context) =>
      withEstablishment({ ...object, status: {} }, await neighbours(object), context),
    prepareForUpdate: async (object, _current, context) => withEstablishment(object, await neighbours(object), context),
    afterMarked: ({ metadata }) => onMarked(metadata.name ?? ''),
  };
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

  validate: validateDefinition,

  validateUpdate: validateDefinitionUpdate,

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

/** No peers to wait for: names are accepted and the resource is established in the same write. */
export function withEstablishment(
  object: ApiObject,
  neighbours: readonly ApiObject[],
  context: Pick<WriteContext, 'world'>,
): ApiObject {
  const status = record(object.status);
  const stored = list(status.storedVersions);
  const storageVersion = storageVersionOf(object);
  const names = decideNames(object, neighbours);
  const withNames = {
    ...status,
    acceptedNames: names.acceptedNames,
    storedVersions: stored.includes(storageVersion) ? stored : [...stored, storageVersion],
  };
  const verdict = names.areAllAccepted ? 'True' : 'False';
  const accepted = condition('NamesAccepted', verdict, names.reason, names.message, context);
  // Once established it stays so: its objects are there.
  const wasEstablished = records(status.conditions).some(
    (each) => each.type === 'Established' && each.status === 'True',
  );
  const established =
    names.areAllAccepted || wasEstablished
      ? condition('Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted', context)
      : condition('Established', 'False', 'NotAccepted', 'not all names are accepted', context);
  return { ...object, status: withCondition(withCondition(withNames, accepted), established) };
}

function storageVersionOf(crd: ApiObject): string {
  const version = records(at(crd, 'spec', 'versions')).find(({ storage }) => storage === true);
  return text(version?.name) ?? '';
}

function condition(
  type: string,
  status: string,
  reason: string,
  message: string,
  { world }: Pick<WriteContext, 'world'>,
): JsonRecord {
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
