import type { Taint, Toleration } from '../kinds/built-in.js';

/** Whether one of the tolerations is of this taint. Source: Kubernetes, "Taints and Tolerations". */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => {
    if (toleration.effect !== undefined && toleration.effect !== '' && toleration.effect !== taint.effect) return false;
    const hasKey = toleration.key !== undefined && toleration.key !== '';
    if (hasKey && toleration.key !== taint.key) return false;
    if (toleration.operator === 'Exists') return true;
    return hasKey && (toleration.value ?? '') === (taint.value ?? '');
  });
}
