import type { Job, JobSpec, JobStatus, Pod } from '@castellan/machinery';

export const startMs = Date.parse('2026-01-01T00:00:00Z');

export function job(spec: Partial<JobSpec> = {}, status?: JobStatus): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'default', name: 'work', uid: 'uid-work', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      parallelism: 1,
      backoffLimit: 6,
      template: {
        metadata: { labels: { app: 'work' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c' }] },
      },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export interface JobPodFacts {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly index?: number;
  readonly failures?: number;
  readonly exitCode?: number;
  /** Seconds after the start of all. */
  readonly endedAt?: number;
  readonly isDeleted?: boolean;
  readonly isCounted?: boolean;
  readonly restarts?: number;
  readonly condition?: string;
}

export function jobPod(name: string, facts: JobPodFacts = {}): Pod {
  const { phase = 'Running', index, failures, exitCode = phase === 'Failed' ? 1 : 0, endedAt = 0 } = facts;
  const hasEnded = phase === 'Succeeded' || phase === 'Failed';
  const terminated = { exitCode, finishedAt: new Date(startMs + endedAt * 1_000).toISOString() };
  const status = {
    ...{ name: 'c', image: 'c', imageID: '', ready: phase === 'Running', restartCount: facts.restarts ?? 0 },
    state: hasEnded ? { terminated } : {},
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(facts.isDeleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ...(facts.isCounted === true ? {} : { finalizers: ['batch.kubernetes.io/job-tracking'] }),
      annotations: {
        ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(index) }),
        ...(failures === undefined ? {} : { 'batch.kubernetes.io/job-index-failure-count': String(failures) }),
      },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: 'uid-work', controller: true }],
    },
    spec: { nodeName: 'node', containers: [{ name: 'c' }] },
    status: {
      phase,
      containerStatuses: [status],
      conditions: [
        { type: 'Ready', status: phase === 'Running' ? 'True' : 'False' },
        ...(facts.condition === undefined ? [] : [{ type: facts.condition, status: 'True' }]),
      ],
    },
  };
}
