import { type CronJob, cronJobs, jobs } from '@castellan/machinery';
import type { OperatorScenario, SimulatedProgram } from '@castellan/testkit';

const key = { namespace: 'default', name: 'backup' };
const workMs = 2_000;

const worker: SimulatedProgram = {
  start({ world, exit }) {
    world.clock.after(workMs, () => exit(0));
    return {};
  },
};

/** Due a minute after the beginning of simulated time, and not again for a year. */
function cronJob(successfulJobsHistoryLimit: number): CronJob {
  const container = { name: 'main', image: 'backup:1' };
  const template = { spec: { restartPolicy: 'Never', containers: [container] } };
  const jobTemplate = { spec: { template } };
  const spec = { schedule: '1 0 1 1 *', timeZone: 'UTC', successfulJobsHistoryLimit, jobTemplate };
  return { apiVersion: 'batch/v1', kind: 'CronJob', metadata: key, spec };
}

/** A CronJob that is due once: whatever happens then, it makes one job, and keeps it or not as it says. */
export const cronJobChecks: OperatorScenario = {
  name: 'cron jobs',
  process: 'plane',
  setUp: () => ({ nodes: 1, node: { programOf: () => worker } }),
  specs: { keeping: [cronJob(3)], 'keeping one': [cronJob(1)] },
  settled: (cluster) => {
    const { lastSuccessfulTime, active = [] } = cluster.state.get(cronJobs, key)?.status ?? {};
    return lastSuccessfulTime !== undefined && active.length === 0;
  },
  outcome: [cronJobs, jobs],
  path: /\/(cronjobs|jobs)\b/,
};
