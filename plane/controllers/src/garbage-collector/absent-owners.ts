import type { OwnerReference } from '@castellan/machinery';

/** Owners that the server said do not exist. A uid never comes back, so this stays true. */
export class AbsentOwners {
  readonly #keys = new Set<string>();
  readonly #limit = 500;

  has(namespace: string | undefined, reference: OwnerReference): boolean {
    return this.#keys.has(keyOfOwner(namespace, reference));
  }

  add(namespace: string | undefined, reference: OwnerReference): void {
    for (const oldest of this.#keys) {
      if (this.#keys.size < this.#limit) break;
      this.#keys.delete(oldest);
    }
    this.#keys.add(keyOfOwner(namespace, reference));
  }
}

function keyOfOwner(namespace = '', { apiVersion, kind, name, uid }: OwnerReference): string {
  return [namespace, apiVersion, kind, name, uid].join('|');
}
