import type { ControllerRevision } from '@castellan/machinery';
import { isSameData } from './revision-data.js';

/** What makes the newest revision of a history be of some data. */
export type RevisionPlan =
  | { readonly kind: 'keep'; readonly revision: ControllerRevision }
  /** A rollback: an older revision of the same data becomes the newest. */
  | { readonly kind: 'renumber'; readonly revision: ControllerRevision; readonly to: number }
  | { readonly kind: 'create'; readonly number: number };

/** From the oldest to the newest: by number, then by age, then by name. */
export function inOrder(revisions: readonly ControllerRevision[]): readonly ControllerRevision[] {
  return [...revisions].sort((a, b) => a.revision - b.revision || compareAges(a, b));
}

/** `revisions` must be in order. Source: upstream's getStatefulSetRevisions. */
export function planRevision(revisions: readonly ControllerRevision[], data: unknown): RevisionPlan {
  const newest = revisions.at(-1);
  const number = (newest?.revision ?? 0) + 1;
  const same = revisions.findLast((revision) => isSameData(revision.data, data));
  if (same === undefined) return { kind: 'create', number };
  return same === newest ? { kind: 'keep', revision: same } : { kind: 'renumber', revision: same, to: number };
}

/** The oldest revisions beyond `limit` of those that nothing lives by; none when the limit is negative. `revisions` must be in order. */
export function obsoleteRevisions(
  revisions: readonly ControllerRevision[],
  isLive: (revision: ControllerRevision) => boolean,
  limit: number,
): readonly ControllerRevision[] {
  if (limit < 0) return [];
  const past = revisions.filter((revision) => !isLive(revision));
  return past.slice(0, Math.max(0, past.length - limit));
}

function compareAges(a: ControllerRevision, b: ControllerRevision): number {
  const texts = ({ metadata }: ControllerRevision) => `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
  return texts(a) < texts(b) ? -1 : 1;
}
