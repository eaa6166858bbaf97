import type { Pod, Volume } from '../kinds/built-in.js';
import type { ObjectKey } from '../object.js';

/** The claim that a pod's volume stands for: the one it names, or the one that is made for the pod alone. */
export function claimOfVolume({ metadata }: Pod, volume: Volume): ObjectKey | undefined {
  const { namespace = '', name = '' } = metadata;
  if (volume.persistentVolumeClaim !== undefined) return { namespace, name: volume.persistentVolumeClaim.claimName };
  return volume.ephemeral === undefined ? undefined : { namespace, name: `${name}-${volume.name}` };
}

/** All claims that a pod uses, each once. */
export function claimsOfPod(pod: Pod): readonly ObjectKey[] {
  const claims = (pod.spec?.volumes ?? []).flatMap((volume) => claimOfVolume(pod, volume) ?? []);
  return claims.filter(({ name }, index) => claims.findIndex((other) => other.name === name) === index);
}
