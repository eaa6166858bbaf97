import type { Pod } from '@castellan/machinery';

/** Whether files of a pod's volumes come from this ConfigMap or Secret. */
export function refersTo(pod: Pod, kind: 'ConfigMap' | 'Secret', name: string): boolean {
  return (pod.spec?.volumes ?? []).some(({ configMap, secret, projected }) => {
    const parts = projected?.sources ?? [];
    return kind === 'ConfigMap'
      ? configMap?.name === name || parts.some((part) => part.configMap?.name === name)
      : secret?.secretName === name || parts.some((part) => part.secret?.name === name);
  });
}
