import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, count, record } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

/** Which numbers a kind's status holds, and how they bound each other. */
interface StatusRules {
  /** In the order in which upstream looks at them. */
  readonly nonNegative: readonly string[];
  readonly atMostReplicas?: readonly string[];
  /** What is said when more pods are available than ready. */
  readonly availableProblem?: string;
}

const replicas: StatusRules = {
  nonNegative: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  atMostReplicas: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  availableProblem: 'cannot be greater than readyReplicas',
};

/** Source: the validation of apps, core and policy in kube-apiserver. */
const rules = {
  Deployment: {
    nonNegative: [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
      'collisionCount',
    ],
    atMostReplicas: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
    availableProblem: 'cannot be greater than readyReplicas',
  },
  ReplicaSet: { ...replicas, nonNegative: [...replicas.nonNegative, 'terminatingReplicas'] },
  ReplicationController: replicas,
  StatefulSet: {
    nonNegative: [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    atMostReplicas: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    availableProblem: 'cannot be greater than status.readyReplicas',
  },
  DaemonSet: {
    nonNegative: [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
  },
  Job: { nonNegative: ['active', 'succeeded', 'failed', 'ready', 'terminating'] },
  PodDisruptionBudget: {
    nonNegative: ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
  },
} as const satisfies Readonly<Record<string, StatusRules>>;

/** The rules of a status that counts pods, for writes of the status subresource. */
export function statusRulesOf(kind: keyof typeof rules): NonNullable<Strategy['validateStatus']> {
  return (object, current) => [...statusErrors(rules[kind], object), ...collisionErrors(object, current)];
}

function statusErrors(
  { nonNegative, atMostReplicas = [], availableProblem }: StatusRules,
  object: ApiObject,
): readonly FieldError[] {
  const status = record(object.status);
  const amount = (field: string) => count(status[field]) ?? 0;
  const problem = (field: string, text: string) => fieldError.invalid(`status.${field}`, amount(field), text);
  return [
    ...nonNegative
      .filter((field) => amount(field) < 0)
      .map((field) => problem(field, 'must be greater than or equal to 0')),
    ...atMostReplicas
      .filter((field) => amount(field) > amount('replicas'))
      .map((field) => problem(field, 'cannot be greater than status.replicas')),
    ...(availableProblem !== undefined && amount('availableReplicas') > amount('readyReplicas')
      ? [problem('availableReplicas', availableProblem)]
      : []),
  ];
}

/** Names made of the count before it would be made again. */
function collisionErrors(object: ApiObject, current: ApiObject): readonly FieldError[] {
  const before = count(record(current.status).collisionCount);
  const now = count(record(object.status).collisionCount);
  if (before === undefined || (now !== undefined && now >= before)) return [];
  return [fieldError.invalid('status.collisionCount', now ?? 0, 'cannot be decremented')];
}
