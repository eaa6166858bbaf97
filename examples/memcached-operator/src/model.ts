import type { Invariant, PlannerModel } from '@castellan/runtime';
import type { Desired, Observation, PodView, Step } from './plan.js';

/** The truth about one Memcached: its pods, by index. One with a bad image will never be ready. */
export interface State {
  readonly pods: readonly (PodView & { readonly isBad: boolean })[];
}

/** How the world answers, so that everything that can happen can be looked at before it does. */
export const model: PlannerModel<Desired, State, Observation, Step> = {
  desires: (bound) => Array.from({ length: bound }, (_, index) => ({ size: index + 1 })),
  starts: (bound) => combinations(bound).map((pods) => ({ pods })),
  isGoal: ({ pods }, { size }) =>
    pods.length === size && pods.every(({ phase, isCurrent }) => phase === 'ready' && isCurrent),

  observe: ({ pods }) => ({ pods: pods.map(({ index, phase, isCurrent }) => ({ index, phase, isCurrent })) }),

  apply({ pods }, { kind, index }) {
    if (kind === 'delete') return [{ pods: change(pods, index, { phase: 'ending' }) }];
    if (pods.some((pod) => pod.index === index)) return [{ pods }];
    const made = { index, phase: 'starting', isCurrent: true, isBad: false } as const;
    return [{ pods: [...pods, made].toSorted((one, other) => one.index - other.index) }];
  },

  progress: ({ pods }) =>
    pods.flatMap((pod) => {
      if (pod.phase === 'ending') {
        return [{ name: `pod ${pod.index} is gone`, state: { pods: pods.filter((each) => each !== pod) } }];
      }
      if (pod.phase === 'ready' || pod.isBad) return [];
      return [{ name: `pod ${pod.index} becomes ready`, state: { pods: change(pods, pod.index, { phase: 'ready' }) } }];
    }),

  faults: ({ pods }) =>
    pods.flatMap((pod) => [
      { name: `pod ${pod.index} is lost`, state: { pods: pods.filter((each) => each !== pod) } },
      ...(pod.phase === 'ready'
        ? [{ name: `pod ${pod.index} crashes`, state: { pods: change(pods, pod.index, { phase: 'starting' }) } }]
        : []),
    ]),

  fingerprint: (state, decided) => JSON.stringify([state, decided]),
  describe: ({ pods }) =>
    pods
      .map(({ index, phase, isCurrent, isBad }) => `${index} ${phase}${isCurrent ? '' : ' old'}${isBad ? ' bad' : ''}`)
      .join(', ') || 'nothing',
  describeStep: ({ kind, index }) => `${kind} pod ${index}`,
};

export const invariants: readonly Invariant<Desired, State, Step>[] = [
  {
    name: 'M1',
    violation({ before, step, desired, age }) {
      if (step?.kind !== 'delete' || step.index >= desired.size || age > 0) return undefined;
      const victim = before.pods.find(({ index }) => index === step.index);
      const others = before.pods.filter((pod) => pod !== victim && pod.phase !== 'ready');
      if (victim?.phase !== 'ready' || others.length === 0) return undefined;
      return `pod ${step.index} serves and is deleted while pod ${others[0]?.index} does not`;
    },
  },
];

type Pods = State['pods'];

function change(pods: Pods, index: number, fields: Partial<PodView>): Pods {
  return pods.map((pod) => (pod.index === index ? { ...pod, ...fields } : pod));
}

/** Every way in which up to `bound` pods may be there when the operator first looks. */
function combinations(bound: number): readonly Pods[] {
  if (bound === 0) return [[]];
  const kinds = [
    { phase: 'ready', isCurrent: true, isBad: false },
    { phase: 'ready', isCurrent: false, isBad: false },
    { phase: 'starting', isCurrent: true, isBad: false },
    { phase: 'starting', isCurrent: false, isBad: true },
  ] as const;
  const index = bound - 1;
  return combinations(index).flatMap((pods) => [pods, ...kinds.map((kind) => [...pods, { index, ...kind }])]);
}
