import { type Decision, settled, step, wait } from '@castellan/runtime';

/** What is wanted. */
export interface Desired {
  readonly size: number;
}

/** What was seen: no more than decisions depend on, and nothing guessed. */
export interface Observation {
  readonly pods: readonly PodView[];
}

export interface PodView {
  /** Pods are numbered from 0. */
  readonly index: number;
  readonly phase: 'starting' | 'ready' | 'ending';
  /** Whether it runs the image that is wanted. */
  readonly isCurrent: boolean;
}

/** What may be done: one write each. */
export type Step = { readonly kind: 'create' | 'delete'; readonly index: number };

/** The one next step, or why there is none. Pure: every `if` of the operator is here. */
export function plan({ size }: Desired, { pods }: Observation): Decision<Step> {
  const ending = pods.find(({ phase }) => phase === 'ending');
  if (ending !== undefined) return wait(`pod ${ending.index} is being deleted`, 5_000);

  const extra = pods.findLast(({ index }) => index >= size);
  if (extra !== undefined) {
    return step({ kind: 'delete', index: extra.index }, `${pods.length} pods, ${size} wanted`);
  }
  const missing = Array.from({ length: size }, (_, index) => index).find(
    (index) => !pods.some((pod) => pod.index === index),
  );
  if (missing !== undefined) return step({ kind: 'create', index: missing }, `${pods.length} pods, ${size} wanted`);

  // One that does not serve costs nobody anything: it goes first, or a bad image would stop its own correction.
  const useless = pods.find(({ isCurrent, phase }) => !isCurrent && phase === 'starting');
  if (useless !== undefined) {
    return step({ kind: 'delete', index: useless.index }, 'it does not serve, and its image is not the one wanted');
  }
  const ready = pods.filter(({ phase }) => phase === 'ready').length;
  if (ready < size) return wait(`${ready} of ${size} pods are ready`, 30_000);

  const outdated = pods.find(({ isCurrent }) => !isCurrent);
  if (outdated !== undefined) {
    return step({ kind: 'delete', index: outdated.index }, 'its image is not the one wanted, and all others serve');
  }
  return settled(`${size} pods serve`);
}
