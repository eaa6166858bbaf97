import type { KubernetesObject, ObjectKey, ResourceType } from '@castellan/machinery';

/** Reads from memory what the informers hold. Objects are frozen and shared: copy to change. */
export interface Reader {
  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined;
  list<T extends KubernetesObject>(
    type: ResourceType<T>,
    options?: { readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> },
  ): readonly T[];
  /** Objects whose controller owner reference has this uid. */
  ownedBy<T extends KubernetesObject>(type: ResourceType<T>, ownerUid: string): readonly T[];
}
