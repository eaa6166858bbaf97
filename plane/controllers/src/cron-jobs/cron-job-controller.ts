import { type CronJob, cronJobs, isStatusError, type Job, jobs, keyOf } from '@castellan/machinery';
import { type Controller, ownerReferenceFor, type ReconcileContext, updateStatus } from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';
import { controllerOf } from '../ownership/plan-claims.js';
import { apiTime } from '../workloads/api-time.js';
import { type CronRun, planCronJob } from './plan-cron-job.js';

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/**
 * Makes a Job each time that the schedule of a CronJob says. A job is named for its minute, so that no crash makes two of one
 * time. Without `timeZone` schedules are read in UTC. Source: Kubernetes, "CronJob".
 */
export function cronJobController(): Controller<CronJob> {
  return {
    name: 'cronjob-controller',
    for: cronJobs,
    owns: [jobs],
    concurrency: 5,
    async reconcile(key, context) {
      const cronJob = context.cache.get(cronJobs, key);
      if (cronJob === undefined) return undefined;
      const { client, events, world } = context;
      const owned = context.cache.ownedBy(jobs, cronJob.metadata.uid ?? '');
      const plan = planCronJob(cronJob, owned, world.clock.now());
      try {
        for (const job of plan.obsolete) await deleteJob(cronJob, job, context);
        // What is told of jobs that ended is stored first, so that it is told once.
        const tracked = plan.isChanged ? await updateStatus(client, cronJobs, cronJob, plan.status) : cronJob;
        for (const note of plan.events) events.record(cronJob, note);
        if (plan.run !== undefined) await start(tracked, plan.run, context);
      } catch (error) {
        // Somebody else has changed the CronJob in between: it is looked at again as it is now.
        if (isStatusError(error, 'Conflict')) return { requeueAfterMs: 20 };
        throw error;
      }
      return plan.waitMs === undefined ? undefined : { requeueAfterMs: plan.waitMs };
    },
  };
}

async function start(cronJob: CronJob, run: CronRun, context: ReconcileContext): Promise<void> {
  for (const job of run.replaces) await deleteJob(cronJob, job, context);
  const job = await createJob(cronJob, run, context);
  if (job === undefined) return;
  const gone = new Set(run.replaces.map(({ metadata }) => metadata.uid));
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = job.metadata;
  const reference = { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion };
  const active = [...(cronJob.status?.active ?? []).filter((each) => !gone.has(each.uid)), reference];
  const status = { ...cronJob.status, active, lastScheduleTime: apiTime(run.scheduledMs) };
  await updateStatus(context.client, cronJobs, cronJob, status);
}

/** `undefined`: there cannot be a job for this run. */
async function createJob(cronJob: CronJob, run: CronRun, context: ReconcileContext): Promise<Job | undefined> {
  const { client, events, signal } = context;
  const wanted = jobOf(cronJob, run);
  try {
    const job = await client.create(jobs, wanted, { signal });
    events.record(cronJob, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${run.jobName}` });
    return job;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    if (isStatusError(error, 'AlreadyExists')) {
      // Made by an earlier pass that could not tell it in the status any more; unless it is somebody else's.
      const found = await client.find(jobs, keyOf(wanted), { signal });
      return found !== undefined && controllerOf(found)?.uid === cronJob.metadata.uid ? found : undefined;
    }
    const message = `Error creating job: ${error instanceof Error ? error.message : String(error)}`;
    events.record(cronJob, { type: 'Warning', reason: 'FailedCreate', message });
    throw error;
  }
}

function jobOf(cronJob: CronJob, { jobName, scheduled }: CronRun): Job {
  const { metadata: template = {}, spec } = cronJob.spec?.jobTemplate ?? {};
  const { labels, annotations } = template;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName,
      namespace: cronJob.metadata.namespace ?? '',
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [scheduledAnnotation]: scheduled },
      ownerReferences: [ownerReferenceFor(cronJob, cronJobs)],
    },
    ...(spec === undefined ? {} : { spec }),
  };
}

/** Its pods go with it, in the background. */
async function deleteJob(cronJob: CronJob, job: Job, { client, events, signal }: ReconcileContext): Promise<void> {
  const { name = '', uid = '' } = job.metadata;
  if (job.metadata.deletionTimestamp !== undefined) return;
  try {
    await client.delete(jobs, keyOf(job), { preconditions: { uid }, propagationPolicy: 'Background', signal });
  } catch (error) {
    const message = `Deleted job: ${error instanceof Error ? error.message : String(error)}`;
    events.record(cronJob, { type: 'Warning', reason: 'FailedDelete', message });
    throw error;
  }
  events.record(cronJob, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` });
}
