import { type Job, type JobSpec, jobs, pods } from '@castellan/machinery';
import type { OperatorScenario, SimulatedProgram } from '@castellan/testkit';

const key = { namespace: 'default', name: 'work' };
const workMs = 700;

const worker: SimulatedProgram = {
  start({ world, exit }) {
    world.clock.after(workMs, () => exit(0));
    return {};
  },
};

function job(spec: Partial<JobSpec>): Job {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work:1' }] } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: key, spec: { ...spec, template } };
}

/** A Job that has ended is to stay, and then to stay no longer. */
export const finishedJobChecks: OperatorScenario = {
  name: 'finished jobs',
  process: 'plane',
  setUp: () => ({ nodes: 1, node: { programOf: () => worker } }),
  specs: { stays: [job({})], goes: [job({ ttlSecondsAfterFinished: 20 })] },
  settled: ({ state }, spec) => {
    if (spec === 'goes') return state.list(jobs).length + state.list(pods).length === 0;
    const conditions = state.get(jobs, key)?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Complete' && status === 'True');
  },
  outcome: [jobs, pods],
  mayDiffer: { Pod: ['status', 'spec.nodeName'] },
  path: /\/(jobs|pods)\b/,
};
