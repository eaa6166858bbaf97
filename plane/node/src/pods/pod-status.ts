import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '@castellan/machinery';
import { containerDetails } from './container-details.js';
import type { ContainerFacts, RunFacts } from './container-facts.js';
import type { PodFailure } from './pod-failure.js';
import type { PodPlan } from './pod-plan.js';
import type { EphemeralContainer } from './pod-spec.js';
import { qosClass } from './qos-class.js';
import { isSidecar } from './restart-policy.js';

export interface PodObservation {
  readonly pod: Pod;
  readonly facts: ReadonlyMap<string, ContainerFacts>;
  readonly plan: PodPlan;
  /** `undefined` until the pod's network is made. */
  readonly podIp: string | undefined;
  readonly hostIp: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** Set while the pod cannot be got as far as its containers: a volume that cannot be made, say. */
  readonly problem?: string;
  /** Why its containers cannot be given what the pod asks for now while they run. */
  readonly resizeProblem?: string;
  /** Set when the pod fails as a whole. */
  readonly failure?: PodFailure;
}

const resizePending = 'PodResizePending';

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** The status that the API shows for what is observed. Pure; conditions of others (PodScheduled) stay as they are. */
export function podStatus(observation: PodObservation): PodStatus {
  const { pod, facts, podIp, hostIp } = observation;
  const containers = pod.spec?.containers ?? [];
  const initContainers = pod.spec?.initContainers ?? [];
  const phase = phaseOf(observation);
  const statuses = containers.map((container) => containerStatus(container, facts.get(container.name), observation));
  const initStatuses = initContainers.map((container) =>
    containerStatus(container, facts.get(container.name), observation),
  );
  const ephemeralStatuses = (pod.spec?.ephemeralContainers ?? []).map((container) => ({
    ...containerStatus(container, facts.get(container.name), observation),
    ready: false,
  }));
  // A sidecar counts as a main container does.
  const sidecarStatuses = initStatuses.filter((_, index) => isSidecar(initContainers[index] ?? { name: '' }));
  const generation = pod.metadata.generation;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    ...(observation.failure ?? {}),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...(podIp === undefined ? {} : { podIP: podIp, podIPs: [{ ip: podIp }] }),
    startTime: formatTime(observation.startedAtMs),
    qosClass: pod.status?.qosClass ?? qosClass(pod),
    conditions: conditions(observation, phase, [...sidecarStatuses, ...statuses]),
    ...(initStatuses.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses: statuses,
    ...(ephemeralStatuses.length === 0 ? {} : { ephemeralContainerStatuses: ephemeralStatuses }),
  };
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** As kubelet's getPhase: Pending until every container was started once. */
function phaseOf({ pod, facts, plan }: PodObservation): Phase {
  const isRunning = [...facts.values()].some(({ current }) => current !== undefined && current.end === undefined);
  // Nothing of a pod that is over runs any more: what still does (a sidecar, say) is being ended.
  if (plan.outcome !== undefined && !isRunning) return plan.outcome;
  const main = (pod.spec?.containers ?? []).map(({ name }) => facts.get(name));
  if (main.some((fact) => fact?.current === undefined || (fact.isStarting === true && fact.previous === undefined)))
    return 'Pending';
  const current = main.map((fact) => fact?.current);
  // A pod that is being deleted and whose containers have all ended is over, whatever its restart policy.
  if (pod.metadata.deletionTimestamp !== undefined && current.every((run) => run?.end !== undefined)) {
    return current.every((run) => run?.end?.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  return 'Running';
}

function containerStatus(
  container: Container | EphemeralContainer,
  facts: ContainerFacts | undefined,
  observation: PodObservation,
): ContainerStatus {
  const run = facts?.current;
  const isRunning = run !== undefined && run.end === undefined;
  const isInit = observation.pod.spec?.initContainers?.some(({ name }) => name === container.name) === true;
  const isDone = run?.end?.exitCode === 0;
  const isReady = isInit && !isSidecar(container) ? isDone : isRunning && facts?.isReady === true;
  const { state, lastState } = states(container, facts, observation);
  return {
    name: container.name,
    image: run?.image ?? container.image ?? '',
    imageID: run?.imageId ?? '',
    ...(run === undefined ? {} : { containerID: `castellan://${run.id}` }),
    ready: isReady,
    started: isRunning && facts?.isStarted === true,
    restartCount: facts?.restartCount ?? 0,
    state,
    lastState,
    ...containerDetails(observation.pod, container, run),
  };
}

function states(
  { name }: Pick<Container, 'name'>,
  facts: ContainerFacts | undefined,
  { plan, problem }: PodObservation,
): Pick<Required<ContainerStatus>, 'state' | 'lastState'> {
  const run = facts?.current;
  const lastState = facts?.previous?.end === undefined ? {} : { terminated: terminated(facts.previous) };
  if (facts?.isStarting === true) return { state: { waiting: { reason: 'ContainerCreating' } }, lastState };
  if (run !== undefined && run.end === undefined) {
    return { state: { running: { startedAt: formatTime(run.startedAtMs) } }, lastState };
  }
  const waits = facts?.waiting;
  if (run !== undefined) {
    const ended = { terminated: terminated(run) };
    if (plan.outcome !== undefined) return { state: ended, lastState };
    if (waits !== undefined && !plan.backingOff.has(name))
      return { state: { waiting: { reason: waits.reason, message: waits.message } }, lastState: ended };
    if (!plan.backingOff.has(name)) return { state: ended, lastState };
    const message = `back-off ${formatBackoff(run.backoffMs)} restarting failed container=${name}`;
    return { state: { waiting: { reason: 'CrashLoopBackOff', message } }, lastState: ended };
  }
  if (waits !== undefined) {
    const { reason, message } = waits;
    return { state: { waiting: { reason, ...(message !== '' && { message }) } }, lastState };
  }
  const reason = plan.isInitialized || plan.start.includes(name) ? 'ContainerCreating' : 'PodInitializing';
  return { state: { waiting: { reason, ...(problem === undefined ? {} : { message: problem }) } }, lastState };
}

function terminated(run: RunFacts) {
  const end = run.end;
  return {
    exitCode: end?.exitCode ?? 137,
    reason: end?.reason ?? 'ContainerStatusUnknown',
    ...(end?.message === undefined ? {} : { message: end.message }),
    startedAt: formatTime(run.startedAtMs),
    finishedAt: formatTime(end?.finishedAtMs ?? run.startedAtMs),
    containerID: `castellan://${run.id}`,
  };
}

function conditions(
  { pod, podIp, plan, facts, nowMs, resizeProblem }: PodObservation,
  phase: Phase,
  statuses: readonly ContainerStatus[],
): readonly PodCondition[] {
  const isOver = plan.outcome !== undefined || phase === 'Succeeded' || phase === 'Failed';
  const unready = statuses.filter(({ ready }) => !ready).map(({ name }) => name);
  const notReady = isOver
    ? { reason: (plan.outcome ?? phase) === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  const areReady = !isOver && unready.length === 0;
  const closedGates = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => gateProblem(pod, conditionType));
  const gateClosed = { reason: 'ReadinessGatesNotReady', message: closedGates.join(', ') };
  const isReady = areReady && closedGates.length === 0;
  const ours: readonly PodCondition[] = [
    condition('PodReadyToStartContainers', podIp !== undefined),
    condition('Initialized', plan.isInitialized, {
      reason: 'ContainersNotInitialized',
      message: `containers with incomplete status: [${incompleteInit(pod, facts).join(' ')}]`,
    }),
    condition('Ready', isReady, areReady ? gateClosed : notReady),
    condition('ContainersReady', areReady, notReady),
    ...(resizeProblem === undefined
      ? []
      : [{ type: resizePending, status: 'True', reason: 'Infeasible', message: resizeProblem }]),
  ];
  const before = pod.status?.conditions ?? [];
  const others = before.filter(({ type }) => type !== resizePending && !ours.some((own) => own.type === type));
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return [...ours.map((own) => ({ ...withTransition(own, before, nowMs), ...observed })), ...others];
}

function incompleteInit({ spec }: Pod, facts: PodObservation['facts']): readonly string[] {
  const isComplete = (container: Container) => {
    const fact = facts.get(container.name);
    return isSidecar(container) ? fact?.isStarted === true : fact?.current?.end?.exitCode === 0;
  };
  return (spec?.initContainers ?? []).filter((container) => !isComplete(container)).map(({ name }) => name);
}

function gateProblem({ status }: Pod, gate: string): readonly string[] {
  const found = status?.conditions?.find(({ type }) => type === gate);
  if (found?.status === 'True') return [];
  const what = `pod readiness gate "${gate}"`;
  if (found === undefined) return [`corresponding condition of ${what} does not exist.`];
  return [`the status of ${what} is not "True", but ${found.status}`];
}

function condition(
  type: string,
  isTrue: boolean,
  otherwise: { readonly reason?: string; readonly message?: string } = {},
): PodCondition {
  return isTrue ? { type, status: 'True' } : { type, status: 'False', ...otherwise };
}

function withTransition(own: PodCondition, before: readonly PodCondition[], nowMs: number): PodCondition {
  const old = before.find(({ type }) => type === own.type);
  const isSame = old?.status === own.status && old.lastTransitionTime !== undefined;
  return { ...own, lastTransitionTime: isSame ? (old.lastTransitionTime ?? '') : formatTime(nowMs) };
}

/** As Go writes durations: `10s`, `2m40s`. */
function formatBackoff(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
