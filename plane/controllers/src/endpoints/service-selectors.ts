import { formatKey, keyOf, type ObjectKey, type Pod } from '@castellan/machinery';
import { isSelected } from './service-pods.js';

/**
 * Which services a change of a pod concerns: those that select it now, and those that had it when they were last
 * reconciled (its labels may have changed). A service that was not reconciled yet is not known here, and need not be:
 * its first reconcile reads every pod.
 */
export class ServiceSelectors {
  readonly #services = new Map<string, Map<string, SelectedPods>>();

  /** Call in the same turn in which the pods were read. */
  remember(service: ObjectKey, selector: Readonly<Record<string, string>>, pods: readonly Pod[]): void {
    const namespace = service.namespace ?? '';
    const inNamespace = this.#services.get(namespace) ?? new Map<string, SelectedPods>();
    this.#services.set(namespace, inNamespace);
    inNamespace.set(service.name, { selector, members: new Set(pods.map((pod) => formatKey(keyOf(pod)))) });
  }

  forget(service: ObjectKey): void {
    const namespace = service.namespace ?? '';
    const inNamespace = this.#services.get(namespace);
    inNamespace?.delete(service.name);
    if (inNamespace?.size === 0) this.#services.delete(namespace);
  }

  servicesOf(pod: Pod): readonly ObjectKey[] {
    const { namespace = '' } = pod.metadata;
    const key = formatKey(keyOf(pod));
    return [...(this.#services.get(namespace) ?? [])]
      .filter(([, { selector, members }]) => members.has(key) || isSelected(selector, pod))
      .map(([name]) => ({ namespace, name }));
  }
}

interface SelectedPods {
  readonly selector: Readonly<Record<string, string>>;
  readonly members: ReadonlySet<string>;
}
