import { isConditionTrue, isStatusError, type Pod, pods } from '@castellan/machinery';
import { cached, definePlanner, type Operator, ownerReferenceFor } from '@castellan/runtime';
import { type Memcached, memcacheds } from './kind.js';
import { invariants, model, type State } from './model.js';
import { type Desired, type Observation, type PodView, plan, type Step } from './plan.js';

const managedBy = { 'app.kubernetes.io/managed-by': 'memcached-operator' };

/** Only pods that this operator made are kept in memory, however many there are in the cluster. */
const ownPods = cached(pods, { labelSelector: 'app.kubernetes.io/managed-by=memcached-operator' });

/** observe, plan, act; with the model also `planner.forecast(…)` and `planner.explore(…)`. */
export const planner = definePlanner<Memcached, Desired, Observation, Step, State>({
  name: 'memcached',
  for: memcacheds,
  owns: [ownPods],
  desired: ({ spec }) => ({ size: spec.size }),
  async observe(object, { owned }) {
    return {
      pods: owned(ownPods)
        .map((pod) => viewPod(pod, object))
        .toSorted((one, other) => one.index - other.index),
    };
  },
  plan,
  async act({ kind, index }, { object, client }) {
    const { namespace = '' } = object.metadata;
    const name = `${object.metadata.name}-${index}`;
    if (kind === 'delete') await client.delete(ownPods, { namespace, name });
    // That it is there already is what was wanted.
    else await client.create(ownPods, podFor(object, name)).catch(unlessItExists);
  },
  model,
  invariants,
});

export function memcachedOperator(): Operator {
  return { name: 'memcached', customResourceDefinitions: [memcacheds.crd], controllers: [planner.controller] };
}

function viewPod({ metadata, spec, status }: Pod, owner: Memcached): PodView {
  const isReady = isConditionTrue(status?.conditions, 'Ready');
  return {
    index: Number(metadata.name?.split('-').at(-1)),
    phase: metadata.deletionTimestamp !== undefined ? 'ending' : isReady ? 'ready' : 'starting',
    isCurrent: spec?.containers[0]?.image === owner.spec.image,
  };
}

function podFor(owner: Memcached, name: string): Pod {
  const { namespace = '' } = owner.metadata;
  return {
    metadata: {
      namespace,
      name,
      labels: { ...managedBy, app: owner.metadata.name ?? '' },
      ownerReferences: [ownerReferenceFor(owner, memcacheds)],
    },
    spec: {
      containers: [
        {
          name: 'memcached',
          image: owner.spec.image,
          ports: [{ containerPort: 11211 }],
          readinessProbe: { tcpSocket: { port: 11211 }, periodSeconds: 2 },
        },
      ],
    },
  };
}

function unlessItExists(error: unknown): void {
  if (!isStatusError(error, 'AlreadyExists')) throw error;
}
