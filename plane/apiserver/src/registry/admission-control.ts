import type { ApiObject } from '../json.js';
import type { ResourceDefinition } from './resource.js';

/** A write that asks to be let in. */
export interface AdmissionWrite {
  readonly definition: ResourceDefinition;
  /** The version that the client wrote, where this is another one's view of it. */
  readonly requestedAs?: ResourceDefinition;
  /** `CONNECT`: nothing is written, `object` holds the options of an exec, an attach and the like. */
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** '' for the object itself. */
  readonly subresource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  /** What is to be stored; absent for a delete. */
  readonly object?: ApiObject;
  /** What is there; absent for a create. */
  readonly current?: ApiObject;
}

export type AdmissionChange = AdmissionWrite & { readonly object: ApiObject };

/** What stands between a request that is allowed and its write. Both fail with the reason why a write is not let in. */
export interface Admission {
  /** The object as it is to be written. */
  mutate(write: AdmissionChange): Promise<ApiObject>;
  /** Judges the object in its last form. */
  validate(write: AdmissionWrite): Promise<void>;
  /** A PUT or an apply turns out to create its object: a right of its own. */
  assertMayCreate(): Promise<void>;
}
