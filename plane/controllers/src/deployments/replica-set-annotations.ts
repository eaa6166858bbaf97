import type { Deployment, ReplicaSet } from '@castellan/machinery';
import { rollingLimits } from './rolling-limits.js';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maxAnnotation = 'deployment.kubernetes.io/max-replicas';

/** Said of a Deployment or a ReplicaSet by itself, so not carried from one to the other. */
const notCarried = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  'deprecated.deployment.rollback.to',
]);

/** The earlier revisions of a ReplicaSet take this many characters at most. */
const longestHistory = 2_000;

type Annotations = Readonly<Record<string, string>>;

/** Which rollout of its Deployment a ReplicaSet was last of; 0 when it was of none, or of one that is no number. */
export function revisionOf({ metadata }: ReplicaSet): number {
  const text = metadata.annotations?.[revisionAnnotation] ?? '';
  return /^\d+$/.test(text) ? Number(text) : 0;
}

/** How many replicas the Deployment wanted when it last sized this ReplicaSet. */
export function desiredReplicasOf({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata.annotations?.[desiredAnnotation]);
}

/** How many pods there could be at most when the Deployment last sized this ReplicaSet. */
export function maxReplicasOf({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata.annotations?.[maxAnnotation]);
}

/** Those that say what the Deployment wanted when it sized a ReplicaSet. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const { replicas = 1 } = deployment.spec ?? {};
  return { [desiredAnnotation]: String(replicas), [maxAnnotation]: String(replicas + rollingLimits(deployment).surge) };
}

/**
 * The annotations of the ReplicaSet that is rolled out: those of its Deployment, and its revision. One that is rolled out
 * again gets the next revision, and remembers those that it had.
 */
export function rolloutAnnotations(deployment: Deployment, before: Annotations, revision: number): Annotations {
  const carried = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !notCarried.has(name));
  const annotations = { ...before, ...Object.fromEntries(carried) };
  const last = before[revisionAnnotation];
  if (last !== undefined && last !== '' && (!/^\d+$/.test(last) || Number(last) >= revision)) return annotations;
  const history = last === undefined ? {} : { [historyAnnotation]: historyWith(before[historyAnnotation], last) };
  return { ...annotations, ...history, [revisionAnnotation]: String(revision) };
}

/** The oldest are dropped when there is no room for them. */
function historyWith(history: string | undefined, revision: string): string {
  const revisions = [...(history ?? '').split(',').filter((each) => each !== ''), revision];
  while (revisions.length > 1 && revisions.join(',').length > longestHistory) revisions.shift();
  return revisions.join(',');
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}
