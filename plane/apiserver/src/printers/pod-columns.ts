import { type ApiObject, at, count, type JsonRecord, record, records, text } from '../json.js';
import { age, nameOf, since } from './cells.js';
import { type Column, column } from './column.js';

const none = '<none>';

export const podColumns: readonly Column[] = [
  column('Name', nameOf, { format: 'name' }),
  column('Ready', ready),
  column('Status', status),
  column('Restarts', restarts),
  column('Age', age),
  column('IP', (pod) => text(at(pod, 'status', 'podIP')) ?? none, { priority: 1 }),
  column('Node', (pod) => text(at(pod, 'spec', 'nodeName')) ?? none, { priority: 1 }),
  column('Nominated Node', (pod) => text(at(pod, 'status', 'nominatedNodeName')) ?? none, { priority: 1 }),
  column('Readiness Gates', readinessGates, { priority: 1 }),
];

/** Containers that run with the pod: its own, and init containers that restart. */
function servingContainers(pod: ApiObject) {
  const sidecars = records(at(pod, 'spec', 'initContainers')).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return { total: records(at(pod, 'spec', 'containers')).length + sidecars.length, sidecars };
}

function ready(pod: ApiObject): string {
  const { total, sidecars } = servingContainers(pod);
  const names = sidecars.map(({ name }) => name);
  const statuses = [
    ...records(at(pod, 'status', 'containerStatuses')),
    ...records(at(pod, 'status', 'initContainerStatuses')).filter(({ name }) => names.includes(name)),
  ];
  const running = statuses.filter(
    (container) => container.ready === true && at(container, 'state', 'running') !== undefined,
  );
  return `${running.length}/${total}`;
}

/** The phase, or whatever says more of why the pod is not simply running. Source: kubectl's printPod. */
function status(pod: ApiObject): string {
  const podStatus = record(pod.status);
  const phase = text(podStatus.reason) ?? text(podStatus.phase) ?? '';
  const initializing = initReason(pod);
  const reason = initializing ?? containerReason(pod, phase);
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  return podStatus.reason === 'NodeLost'
    ? 'Unknown'
    : phase === 'Succeeded' || phase === 'Failed'
      ? reason
      : 'Terminating';
}

/** `Init:0/1`, `Init:CrashLoopBackOff`, while an init container holds the pod. */
function initReason(pod: ApiObject): string | undefined {
  const declared = records(at(pod, 'spec', 'initContainers'));
  const statuses = records(at(pod, 'status', 'initContainerStatuses'));
  for (const [index, container] of statuses.entries()) {
    const state = record(container.state);
    const isSidecar = declared.find(({ name }) => name === container.name)?.restartPolicy === 'Always';
    if (at(state, 'terminated', 'exitCode') === 0 || (isSidecar && container.started === true)) continue;
    if (state.terminated !== undefined) return `Init:${terminatedReason(record(state.terminated))}`;
    const waiting = text(at(state, 'waiting', 'reason')) ?? '';
    if (waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`;
    return `Init:${index}/${declared.length}`;
  }
  return undefined;
}

function containerReason(pod: ApiObject, phase: string): string {
  let reason = phase;
  let hasRunning = false;
  for (const container of [...records(at(pod, 'status', 'containerStatuses'))].reverse()) {
    const state = record(container.state);
    const waiting = text(at(state, 'waiting', 'reason')) ?? '';
    if (waiting !== '') reason = waiting;
    else if (state.terminated !== undefined) reason = terminatedReason(record(state.terminated));
    else if (container.ready === true && state.running !== undefined) hasRunning = true;
  }
  if (reason !== 'Completed' || !hasRunning) return reason;
  const isReady = records(at(pod, 'status', 'conditions')).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  return isReady ? 'Running' : 'NotReady';
}

function terminatedReason(terminated: JsonRecord): string {
  const reason = text(terminated.reason) ?? '';
  if (reason !== '') return reason;
  const signal = count(terminated.signal) ?? 0;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${count(terminated.exitCode) ?? 0}`;
}

function restarts(pod: ApiObject, nowMs: number): string {
  const statuses = records(at(pod, 'status', 'containerStatuses'));
  const total = statuses.reduce((sum, { restartCount }) => sum + (count(restartCount) ?? 0), 0);
  const ends = statuses.map((container) => text(at(container, 'lastState', 'terminated', 'finishedAt')) ?? '').sort();
  const last = ends.at(-1) ?? '';
  return total === 0 || last === '' ? String(total) : `${total} (${since(last, nowMs)} ago)`;
}

function readinessGates(pod: ApiObject): string {
  const gates = records(at(pod, 'spec', 'readinessGates'));
  if (gates.length === 0) return none;
  const conditions = records(at(pod, 'status', 'conditions'));
  const met = gates.filter(({ conditionType }) =>
    conditions.some(({ type, status }) => type === conditionType && status === 'True'),
  );
  return `${met.length}/${gates.length}`;
}
