import type { ContainerStatus, Pod } from '@castellan/machinery';
import { initialStateAnnotation } from './names.js';
import type { PodPhase, PodView } from './observation.js';

/** A pod that is still there this long after its grace period is over is not going by itself: its node is lost. */
const terminationOverdueMs = 10_000;

/** A container that was restarted this often and ran this briefly each time cannot start with what it has. */
const crashLoop = { restarts: 3, longestRunMs: 30_000 } as const;

/** An etcd with data answers within two or three seconds of its start, alone within one more; this is long after that. */
const answerOverdueMs = 15_000;

/** What the planner needs to know of a pod. `age` is its position by time of creation. */
export function viewPod(pod: Pod, age: number, nowMs: number): PodView {
  const { phase, note } = judge(pod, nowMs);
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  const isReady = ready?.status === 'True';
  const unreadyNote =
    [ready?.reason, ready?.message].filter(Boolean).join(': ') || 'nothing is known of its readiness yet';
  return {
    name: pod.metadata.name ?? '',
    uid: pod.metadata.uid ?? '',
    phase,
    isReady,
    ...(!isReady && { unreadyNote }),
    initialState: pod.metadata.annotations?.[initialStateAnnotation] === 'new' ? 'new' : 'existing',
    isOverdue: isOverdue(pod, nowMs),
    age,
    note,
  };
}

/** Where etcd in this pod can be asked, if it can. */
export function endpointOf(pod: Pod, port: number): string | undefined {
  const address = pod.status?.podIP;
  if (address === undefined || address === '' || etcdStatus(pod)?.state?.running === undefined) return undefined;
  return address.includes(':') ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}

/** How long the etcd process has run since it was last started; 0 while it does not run. */
export function runningForMs(pod: Pod | undefined, nowMs: number): number {
  const startedAt = pod && etcdStatus(pod)?.state?.running?.startedAt;
  return startedAt === undefined ? 0 : nowMs - Date.parse(startedAt);
}

/** A first start is never overdue: however slow the machine, nothing went wrong before it. */
function isOverdue(pod: Pod, nowMs: number): boolean {
  const restarts = etcdStatus(pod)?.restartCount ?? 0;
  return restarts > 0 && runningForMs(pod, nowMs) > answerOverdueMs;
}

function judge(pod: Pod, nowMs: number): { readonly phase: PodPhase; readonly note: string } {
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) {
    const overdueMs = nowMs - Date.parse(deletionTimestamp);
    if (overdueMs < terminationOverdueMs) return { phase: 'terminating', note: 'its pod is being deleted' };
    return { phase: 'dead', note: `its pod should have been gone ${Math.round(overdueMs / 1000)} s ago` };
  }
  const { phase: podPhase, reason, message } = pod.status ?? {};
  if (podPhase === 'Failed' || podPhase === 'Succeeded') {
    return { phase: 'dead', note: `its pod ended (${[podPhase, reason, message].filter(Boolean).join(', ')})` };
  }
  const etcd = etcdStatus(pod);
  if (etcd?.state?.running !== undefined) return { phase: 'running', note: 'etcd runs and does not answer yet' };
  if (etcd !== undefined && isCrashLooping(etcd)) {
    return { phase: 'dead', note: `etcd exits as soon as it starts (${etcd.restartCount} restarts, ${exitOf(etcd)})` };
  }
  return { phase: 'starting', note: whyNotStarted(pod, etcd) };
}

function isCrashLooping(etcd: ContainerStatus): boolean {
  const last = etcd.state?.terminated ?? etcd.lastState?.terminated;
  if (last === undefined || etcd.restartCount < crashLoop.restarts || last.reason === 'OOMKilled') return false;
  return Date.parse(last.finishedAt ?? '') - Date.parse(last.startedAt ?? '') < crashLoop.longestRunMs;
}

function whyNotStarted(pod: Pod, etcd: ContainerStatus | undefined): string {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False')
    return `no node for its pod (${scheduled.message ?? scheduled.reason ?? 'pending'})`;
  for (const init of pod.status?.initContainerStatuses ?? []) {
    if (init.state?.running !== undefined) return `${init.name} waits for the pod's DNS name`;
    if (init.state?.waiting?.reason !== undefined) return waitingNote(init);
    const code = init.state?.terminated?.exitCode;
    if (code !== undefined && code !== 0) return `${init.name} failed with exit code ${code}`;
  }
  if (etcd === undefined) return 'its pod is being set up';
  if (etcd.state?.terminated !== undefined) return `etcd ended (${exitOf(etcd)}) and is restarted`;
  return etcd.state?.waiting?.reason === undefined ? 'its pod is being set up' : waitingNote(etcd);
}

function waitingNote(container: ContainerStatus): string {
  const { reason, message } = container.state?.waiting ?? {};
  const what = message === undefined || message === '' ? reason : `${reason}: ${message}`;
  return container.restartCount > 0 ? `${container.name} is restarted (${what}, ${exitOf(container)})` : `${what}`;
}

function exitOf(container: ContainerStatus): string {
  const last = container.state?.terminated ?? container.lastState?.terminated;
  return last === undefined ? 'exit code unknown' : `exit code ${last.exitCode}`;
}

function etcdStatus(pod: Pod): ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === 'etcd');
}
