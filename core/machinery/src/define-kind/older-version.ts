import type { KubernetesObject } from '../object.js';
import type { KindObject, WrittenObject } from './kind-object.js';
import type { Column } from './printer-columns.js';
import type { AnySchema } from './schema-builder.js';

/** An older version of a kind. Only the kind's own version (the hub) need be known to it, not the other older ones. */
export interface OlderVersion<
  Spec extends AnySchema,
  Status extends AnySchema | undefined,
  HubRead extends KubernetesObject,
  HubWrite extends KubernetesObject,
> {
  readonly description?: string;
  readonly spec: Spec;
  readonly status?: Status;
  readonly columns?: readonly Column[];
  /** False for a version in which objects may still be stored, and that nobody is to use any more. True unless told. */
  readonly isServed?: boolean;
  /** Clients are warned; by these words, or else by those of the API server. */
  readonly deprecated?: true | string;
  /** What an object of this version is in the kind's own. */
  toHub(object: KindObject<Spec, Status>): Converted<HubWrite>;
  /**
   * What an object of the kind's own version is in this one. What this version cannot say may be kept in an annotation, for
   * `toHub` to find: an object that goes there and back is to be as it was.
   */
  fromHub(object: HubRead): Converted<WrittenObject<Spec, Status>>;
}

/** The parts of an object that a conversion may change: of the metadata only labels and annotations, which replace those before. */
export type Converted<T extends KubernetesObject> = Omit<T, keyof KubernetesObject> & {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};
