import type { CustomResourceSubresources } from '../kinds/custom-resource-definition.js';
import type { KubernetesObject } from '../object.js';
import type { ValidationRule } from '../schema/json-schema.js';
import type { OlderVersion } from './older-version.js';
import type { Column } from './printer-columns.js';
import type { AnySchema } from './schema-builder.js';

/** What `defineKind` is told. */
export interface KindDefinition<Spec extends AnySchema, Status extends AnySchema | undefined> {
  /** A domain: `cache.example.com`. */
  readonly group: string;
  /** The version in which objects are stored: `v1`, `v1beta2`. */
  readonly version: string;
  /** In upper camel case: `Memcached`. */
  readonly kind: string;
  /** From the kind unless told: `memcacheds`, `policies`, `proxies`. */
  readonly plural?: string;
  /** The kind in lower case unless told. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  /** `all` makes `kubectl get all` show it. */
  readonly categories?: readonly string[];
  /** `Namespaced` unless told. */
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly description?: string;
  readonly spec: Spec;
  /**
   * Gives the kind its status subresource. `observedGeneration` and `conditions`, which the runtime keeps, are added unless
   * they are declared.
   */
  readonly status?: Status;
  /** What `kubectl get` shows; name and age unless told. */
  readonly columns?: readonly Column[];
  /** Rules in CEL on the object as a whole, such as on `self.metadata.name`. */
  readonly rules?: readonly ValidationRule[];
  /** For `kubectl scale` and autoscalers. */
  readonly scale?: NonNullable<CustomResourceSubresources['scale']>;
  /** Fields that field selectors may name: `.spec.color`. */
  readonly selectableFields?: readonly string[];
}

/** A definition of which the types are not known. */
export type AnyDefinition = KindDefinition<AnySchema, AnySchema | undefined>;

/** An older version of which the types are not known, with its name. */
export interface NamedVersion {
  readonly version: string;
  readonly older: OlderVersion<AnySchema, AnySchema | undefined, KubernetesObject, KubernetesObject>;
}
