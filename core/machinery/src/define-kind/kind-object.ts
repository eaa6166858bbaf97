import type { Condition } from '../kinds/condition.js';
import type { KubernetesObject } from '../object.js';
import type { ReadOfFields, WriteOfFields } from './object-schema.js';
import type { AnySchema, ReadOfSchema, WriteOfSchema } from './schema-builder.js';

/** The objects of a version of a kind, as the API server gives them: defaulted fields are there. */
export type KindObject<Spec extends AnySchema, Status extends AnySchema | undefined> = KubernetesObject &
  ReadOfFields<{ readonly spec: Spec }> &
  (Status extends AnySchema ? StatusPart<ReadOfSchema<Status>> : unknown);

/** The objects of a version of a kind, as the API server takes them: defaulted fields may be left out. */
export type WrittenObject<Spec extends AnySchema, Status extends AnySchema | undefined> = KubernetesObject &
  WriteOfFields<{ readonly spec: Spec }> &
  (Status extends AnySchema ? StatusPart<WriteOfSchema<Status>> : unknown);

interface StatusPart<Status> {
  readonly status?: Status & Omit<KeptByRuntime, keyof Status>;
}

/** What the runtime writes into the status of every kind. */
interface KeptByRuntime {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

/** What `make` takes as spec. */
export type SpecOf<T extends KubernetesObject> = T extends { readonly spec?: infer Spec } ? Spec : never;
