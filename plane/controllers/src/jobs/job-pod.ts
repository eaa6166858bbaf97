import { type Container, type Job, jobs, type Pod } from '@castellan/machinery';
import { ownerReferenceFor } from '@castellan/runtime';
import { podFromTemplate } from '../workloads/pod-from-template.js';
import { judgeFailure } from './failure-policy.js';
import {
  allIndexFailuresOf,
  completionIndexKey,
  failureCountKey,
  ignoredFailureCountKey,
  indexFailuresOf,
  trackingFinalizer,
} from './job-pods.js';
import type { PodCreation } from './plan-pods.js';

const indexVariable = 'JOB_COMPLETION_INDEX';
/** A generated name has five characters more, of 63. */
const longestPrefix = 58;

/** The pod that a Job makes next. Source: "Jobs", KEP-2214, KEP-3850. */
export function podOf(job: Job, { index, replaces }: PodCreation): Pod {
  const pod = podFromTemplate(job.spec?.template ?? {}, job, ownerReferenceFor(job, jobs));
  const { labels, annotations, finalizers = [] } = pod.metadata;
  const tracked = finalizers.includes(trackingFinalizer) ? finalizers : [...finalizers, trackingFinalizer];
  if (index === undefined || pod.spec === undefined)
    return { ...pod, metadata: { ...pod.metadata, finalizers: tracked } };
  const { name = '' } = job.metadata;
  const own = { [completionIndexKey]: String(index) };
  const suffix = `-${index}-`;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, longestPrefix - suffix.length)}${suffix}`,
      labels: { ...labels, ...own },
      annotations: { ...annotations, ...own, ...failureCounts(job, replaces) },
      finalizers: tracked,
    },
    spec: {
      ...pod.spec,
      ...(pod.spec.initContainers === undefined ? {} : { initContainers: pod.spec.initContainers.map(withIndex) }),
      containers: pod.spec.containers.map(withIndex),
      hostname: `${name}-${index}`,
    },
  };
}

/** What the failed pod of this index had counted, and one more. */
function failureCounts({ spec }: Job, replaces: Pod | undefined) {
  if (spec?.backoffLimitPerIndex === undefined) return {};
  if (replaces === undefined) return { [failureCountKey]: '0' };
  const { isCounted } = judgeFailure(spec.podFailurePolicy, replaces);
  const counted = indexFailuresOf(replaces);
  const ignored = allIndexFailuresOf(replaces) - counted + (isCounted ? 0 : 1);
  return {
    [failureCountKey]: String(counted + (isCounted ? 1 : 0)),
    ...(ignored === 0 ? {} : { [ignoredFailureCountKey]: String(ignored) }),
  };
}

function withIndex(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === indexVariable)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${completionIndexKey}']` };
  return { ...container, env: [...env, { name: indexVariable, valueFrom: { fieldRef } }] };
}
