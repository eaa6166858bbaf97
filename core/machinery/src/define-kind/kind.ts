import type { CustomResourceDefinition } from '../kinds/custom-resource-definition.js';
import type { KubernetesObject, ObjectMeta } from '../object.js';
import type { ResourceType } from '../resource-type.js';
import type { FieldError } from '../validation/field-error.js';
import type { KindObject, SpecOf } from './kind-object.js';
import type { OlderVersion } from './older-version.js';
import type { AnySchema, ReadOfSchema, WriteOfSchema } from './schema-builder.js';

/**
 * A kind of object that was defined once. It is a `ResourceType`, so it goes wherever `pods` goes; and it knows its
 * CustomResourceDefinition, its defaults and its rules. Nothing here asks an API server.
 */
export interface Kind<
  Read extends KubernetesObject = KubernetesObject,
  Write extends KubernetesObject = KubernetesObject,
  Versions extends VersionTypes = VersionTypes,
> extends ResourceType<Read> {
  /** Exists at compile time only. */
  readonly writeType?: Write;
  /** What to apply to a cluster, frozen. */
  readonly crd: CustomResourceDefinition;
  /** The older versions, each as a `ResourceType` of its own. */
  readonly versions: Versions;

  /** A whole object of this kind with its defaults, as the API server would give it back. */
  make(metadata: ObjectMeta, spec: SpecOf<Write>): Read;
  /** `object` with what the API server would put in for absent fields. Nothing is changed in place. */
  applyDefaults(object: Write): Read;
  /**
   * What is wrong with an object (or, with `old`, with an update to it) by its schema and its rules in CEL, in the words and the
   * order of the API server; empty when all is well. Names and other metadata are not looked at, and defaults are to be there.
   *
   * @throws KindDefinitionError when a rule does not compile: see `check`.
   */
  validate(object: unknown, old?: unknown): Promise<readonly FieldError[]>;
  /**
   * Reads an object from outside as the API server would: drops unknown fields, applies defaults, validates.
   *
   * @throws StatusError `BadRequest` for an object of another kind, `Invalid` with all that `validate` finds.
   */
  parse(value: unknown): Promise<Read>;
  /** Compiles the rules in CEL, which `defineKind` does not: their engine has to be loaded. @throws KindDefinitionError */
  check(): Promise<void>;
  /** The reference page of the fields, in Markdown. */
  document(): string;

  /**
   * The kind with one version more, older than its own. Objects are stored in the kind's own version and converted by the
   * two functions, which the API server asks for through a conversion webhook.
   */
  withVersion<const Version extends string, Spec extends AnySchema, Status extends AnySchema | undefined = undefined>(
    version: Version,
    older: OlderVersion<Spec, Status, Read, Write>,
  ): Kind<Read, Write, Versions & Readonly<Record<Version, ResourceType<KindObject<Spec, Status>>>>>;
  /**
   * `object`, of any version of this kind, in another version. Metadata stays, but for labels and annotations that a
   * conversion function gives.
   *
   * @throws Error for a version that there is not; and what a conversion function throws.
   */
  convert(object: KubernetesObject, version: string): KubernetesObject;
}

export type VersionTypes = Readonly<Record<string, ResourceType>>;

type OutsideOf = { readonly objectType?: KubernetesObject };

/** The objects of a kind as one reads them, or the values of a schema: defaulted fields are there. */
export type ReadOf<T extends OutsideOf | AnySchema> = T extends AnySchema
  ? ReadOfSchema<T>
  : T extends { readonly objectType?: infer Read }
    ? Exclude<Read, undefined>
    : never;

/** The objects of a kind as one writes them, or the values of a schema: defaulted fields may be left out. */
export type WriteOf<T extends OutsideOf | AnySchema> = T extends AnySchema
  ? WriteOfSchema<T>
  : T extends { readonly writeType?: infer Write }
    ? Exclude<Write, undefined>
    : never;
