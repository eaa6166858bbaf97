import { type ApiObject, at, count, type JsonRecord, record, records, text } from '../json.js';

/** What kubectl shows of a pod's containers taken together. */
export interface PodSummary {
  /** The phase, or whatever says more of why the pod is not simply running. */
  readonly reason: string;
  readonly running: number;
  /** Containers that run as long as the pod: its own, and init containers that restart. */
  readonly total: number;
  readonly restarts: number;
  /** When a container last ended before it restarted; '' if none did. */
  readonly lastRestart: string;
}

/** Source: printPod of kube-apiserver's printers. */
export function podSummary(pod: ApiObject): PodSummary {
  const podStatus = record(pod.status);
  const inits = initSummary(pod);
  const containers = records(podStatus.containerStatuses);
  const isHeld = inits.reason !== undefined && !hasCondition(podStatus, 'Initialized');
  const counted = isHeld ? inits.seen : [...inits.sidecars, ...containers];
  const reason = isHeld
    ? (inits.reason ?? '')
    : containerReason(podStatus, containers, inits.reason ?? waitingReason(podStatus));
  return {
    reason: withEnd(pod, reason),
    running: inits.running + (isHeld ? 0 : containers.filter(isRunning).length),
    total: records(at(pod, 'spec', 'containers')).length + inits.declaredSidecars,
    restarts: counted.reduce((sum, { restartCount }) => sum + (count(restartCount) ?? 0), 0),
    lastRestart: counted.map(lastEnd).sort().at(-1) ?? '',
  };
}

function lastEnd(container: JsonRecord): string {
  return text(at(container, 'lastState', 'terminated', 'finishedAt')) ?? '';
}

/** What holds a pod of which no container has been heard of. */
function waitingReason(status: JsonRecord): string {
  const isGated = records(status.conditions).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  return isGated ? 'SchedulingGated' : text(status.reason) || text(status.phase) || '';
}

interface InitSummary {
  /** `Init:0/1`, `Init:CrashLoopBackOff`, while an init container holds the pod. */
  readonly reason: string | undefined;
  /** Up to the one that holds the pod. */
  readonly seen: readonly JsonRecord[];
  readonly sidecars: readonly JsonRecord[];
  readonly declaredSidecars: number;
  readonly running: number;
}

function initSummary(pod: ApiObject): InitSummary {
  const declared = records(at(pod, 'spec', 'initContainers'));
  const restarting = new Set(
    declared.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const seen: JsonRecord[] = [];
  let reason: string | undefined;
  let running = 0;
  for (const [index, container] of records(at(pod, 'status', 'initContainerStatuses')).entries()) {
    seen.push(container);
    const state = record(container.state);
    if (at(state, 'terminated') !== undefined && (at(state, 'terminated', 'exitCode') ?? 0) === 0) continue;
    if (restarting.has(container.name) && container.started === true) {
      if (container.ready === true) running += 1;
      continue;
    }
    reason = `Init:${heldBy(state) ?? `${index}/${declared.length}`}`;
    break;
  }
  const sidecars = seen.filter(({ name }) => restarting.has(name));
  return { reason, seen, sidecars, declaredSidecars: restarting.size, running };
}

function heldBy(state: JsonRecord): string | undefined {
  if (state.terminated !== undefined) return terminatedReason(record(state.terminated));
  const waiting = text(at(state, 'waiting', 'reason')) ?? '';
  return waiting === '' || waiting === 'PodInitializing' ? undefined : waiting;
}

function containerReason(status: JsonRecord, containers: readonly JsonRecord[], phase: string): string {
  let reason = phase;
  for (const container of [...containers].reverse()) {
    const state = record(container.state);
    const waiting = text(at(state, 'waiting', 'reason')) ?? '';
    if (waiting !== '') reason = waiting;
    else if (state.terminated !== undefined) reason = terminatedReason(record(state.terminated));
  }
  if (reason !== 'Completed' || !containers.some(isRunning)) return reason;
  return hasCondition(status, 'Ready') ? 'Running' : 'NotReady';
}

function isRunning({ ready, state }: JsonRecord): boolean {
  const { waiting, terminated, running } = record(state);
  return ready === true && running !== undefined && terminated === undefined && !(text(at(waiting, 'reason')) ?? '');
}

function hasCondition(status: JsonRecord, wanted: string): boolean {
  return records(status.conditions).some(({ type, status: value }) => type === wanted && value === 'True');
}

function terminatedReason(terminated: JsonRecord): string {
  const reason = text(terminated.reason) ?? '';
  if (reason !== '') return reason;
  const signal = count(terminated.signal) ?? 0;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${count(terminated.exitCode) ?? 0}`;
}

/** A pod on its way out, unless it has ended before. */
function withEnd({ metadata, status }: ApiObject, reason: string): string {
  const { phase, reason: why } = record(status);
  if (metadata.deletionTimestamp === undefined) return reason;
  if (why === 'NodeLost') return 'Unknown';
  return phase === 'Succeeded' || phase === 'Failed' ? reason : 'Terminating';
}
