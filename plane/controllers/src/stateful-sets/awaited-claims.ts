import { formatKey, type KubernetesObject, keyOf, type ObjectKey } from '@castellan/machinery';

/** Which set waits for which claims to appear or to be gone. What is not known here yet, the first reconcile of a set finds. */
export class AwaitedClaims {
  readonly #setOf = new Map<string, ObjectKey>();
  readonly #claimsOf = new Map<string, readonly string[]>();

  /** From now on the set waits for these claims of its namespace, and for no others. */
  await(set: ObjectKey, claims: readonly string[]): void {
    const { namespace = '' } = set;
    for (const claim of this.#claimsOf.get(formatKey(set)) ?? []) this.#setOf.delete(claim);
    const keys = claims.map((name) => formatKey({ namespace, name }));
    for (const key of keys) this.#setOf.set(key, set);
    if (keys.length === 0) this.#claimsOf.delete(formatKey(set));
    else this.#claimsOf.set(formatKey(set), keys);
  }

  /** The key to reconcile for a claim that changed. */
  setOf(claim: KubernetesObject): readonly ObjectKey[] {
    const set = this.#setOf.get(formatKey(keyOf(claim)));
    return set === undefined ? [] : [set];
  }
}
