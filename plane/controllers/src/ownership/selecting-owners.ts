import {
  type KubernetesObject,
  type LabelSelector,
  matchesLabels,
  type ObjectKey,
  type ObjectMeta,
} from '@castellan/machinery';
import { controllerOf } from './plan-claims.js';

/**
 * Which owners may want to adopt an object. An owner that was not reconciled yet is not known here, and need not be: its
 * first reconcile looks at every orphan.
 */
export class SelectingOwners {
  readonly #owners = new Map<string, Map<string, LabelSelector>>();

  remember({ namespace = '', name }: ObjectKey, selector: LabelSelector): void {
    const inNamespace = this.#owners.get(namespace) ?? new Map<string, LabelSelector>();
    this.#owners.set(namespace, inNamespace);
    inNamespace.set(name, selector);
  }

  forget({ namespace = '', name }: ObjectKey): void {
    const inNamespace = this.#owners.get(namespace);
    inNamespace?.delete(name);
    if (inNamespace?.size === 0) this.#owners.delete(namespace);
  }

  all(): readonly ObjectKey[] {
    return [...this.#owners].flatMap(([namespace, names]) => [...names.keys()].map((name) => ({ namespace, name })));
  }

  /** The keys to reconcile for an object that nobody controls; none for any other. */
  ownersOf(object: KubernetesObject): readonly ObjectKey[] {
    return controllerOf(object) === undefined ? this.selecting(object.metadata) : [];
  }

  /** The keys of those that select these labels, whoever controls what has them. */
  selecting({ namespace = '', labels }: Pick<ObjectMeta, 'namespace' | 'labels'>): readonly ObjectKey[] {
    return [...(this.#owners.get(namespace) ?? [])]
      .filter(([, selector]) => matchesLabels(selector, labels))
      .map(([name]) => ({ namespace, name }));
  }
}
