import { claimsOfPod, type ObjectKey, type Pod } from '@castellan/machinery';

export function usesClaims(pod: Pod): boolean {
  return claimsOfPod(pod).length > 0;
}

export function usesClaim(pod: Pod, claim: ObjectKey): boolean {
  return claimsOfPod(pod).some(({ namespace, name }) => name === claim.name && namespace === claim.namespace);
}
