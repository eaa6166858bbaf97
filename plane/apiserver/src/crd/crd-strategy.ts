import { type ApiObject, at, isRecord, type JsonRecord, list, record, text, withAt } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { validateDefinition, validateDefinitionUpdate } from './crd-validation.js';
import { initialStatus, withStorageVersion, withTermination } from './definition-status.js';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export interface DefinitionHooks {
  /** Called with each definition that was written: its names may have to be decided. */
  onWritten(crd: ApiObject): void;
  /** Called with the name of each definition that is to go once its objects are gone. */
  onMarked(name: string): void;
}

export function customResourceDefinitionStrategy({ onWritten, onMarked }: DefinitionHooks): Strategy {
  return {
    ...strategy,
    afterWritten: onWritten,
    afterMarked: ({ metadata }) => onMarked(metadata.name ?? ''),
  };
}

const strategy: Strategy = {
  withDefaults: (object) => {
    const spec = record(object.spec);
    const names = record(spec.names);
    const kind = text(names.kind) ?? '';
    const defaulted = {
      ...spec,
      conversion: withPort(record(spec.conversion ?? { strategy: 'None' })),
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
    };
    return { ...object, spec: defaulted };
  },

  prepareForCreate: (object) => ({ ...object, status: initialStatus(object) }),

  prepareForUpdate: (object) => {
    const status = record(object.status);
    const stored = list(status.storedVersions);
    const storedVersions = withStorageVersion(stored, object);
    return storedVersions === stored ? object : { ...object, status: { ...status, storedVersions } };
  },

  validate: validateDefinition,

  validateUpdate: validateDefinitionUpdate,

  // Its objects go first: the finalizer is taken off when they are gone.
  prepareForDelete: (object, context) => {
    const { deletionGracePeriodSeconds: _, generation = 1, finalizers = [], ...kept } = object.metadata;
    const held = finalizers.includes(cleanupFinalizer) ? finalizers : [...finalizers, cleanupFinalizer];
    // The mark is not a change of what the definition says: its objects are served until they are gone.
    const metadata: ApiObject['metadata'] = { ...kept, generation: generation - 1, finalizers: held };
    return withTermination({ ...object, metadata }, 'InstanceDeletionPending', context);
  },
};

/** The service of a conversion webhook listens at 443 unless it says otherwise. */
function withPort(conversion: JsonRecord): JsonRecord {
  const service = at(conversion, 'webhook', 'clientConfig', 'service');
  if (!isRecord(service) || service.port !== undefined) return conversion;
  return withAt(conversion, ['webhook', 'clientConfig', 'service', 'port'], 443);
}
