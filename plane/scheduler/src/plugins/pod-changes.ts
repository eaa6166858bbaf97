import type { Pod } from '@castellan/machinery';
import type { Change } from '@castellan/runtime';
import { hasFinished } from '../cluster/pod-facts.js';

/** A pod that had a node takes nothing there any more. */
export function leftNode(change: Change<Pod>): boolean {
  if ((change.object.spec?.nodeName ?? '') === '') return false;
  if (change.kind === 'deleted') return true;
  return change.kind === 'updated' && hasFinished(change.object) && !hasFinished(change.previous);
}

/** A pod is on a node that was not there before, or other labels are on it. */
export function cameToNode(change: Change<Pod>): boolean {
  if (change.kind === 'deleted' || (change.object.spec?.nodeName ?? '') === '') return false;
  if (change.kind === 'added') return true;
  const { previous, object } = change;
  return (previous.spec?.nodeName ?? '') === '' || previous.metadata.labels !== object.metadata.labels;
}
