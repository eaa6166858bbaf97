import type { ObjectKey, PersistentVolume } from '@castellan/machinery';

/** The claim that a volume is bound to or kept for. */
export function claimReferredTo({ spec }: PersistentVolume): ObjectKey | undefined {
  const { namespace, name } = spec?.claimRef ?? {};
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}
