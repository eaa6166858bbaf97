import { type Job, type JobSpec, jobs, pods } from '@castellan/machinery';
import type { OperatorScenario, SimulatedProgram } from '@castellan/testkit';

const key = { namespace: 'default', name: 'work' };
const indexLabel = 'batch.kubernetes.io/job-completion-index';
const failureCount = 'batch.kubernetes.io/job-index-failure-count';
const workMs = 700;

/** The first pod of index 1 fails after a while, and so it is made a second time; the others end then, or never. */
function worker(hasEnd: boolean): SimulatedProgram {
  return {
    start({ world, pod, exit }) {
      const { labels, annotations } = pod.metadata;
      const fails = labels?.[indexLabel] === '1' && annotations?.[failureCount] === '0';
      if (fails || hasEnd) world.clock.after(workMs, () => exit(fails ? 1 : 0));
      return {};
    },
  };
}

function job(spec: Partial<JobSpec>): Job {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work:1' }] } };
  const indexed = { completionMode: 'Indexed', backoffLimitPerIndex: 2 };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: key, spec: { ...indexed, ...spec, template } };
}

const common = { process: 'plane', outcome: [jobs, pods], path: /\/(jobs|pods)\b/ } as const;
const sizes: Readonly<Record<string, number>> = { two: 2, three: 3 };

/** An indexed Job that runs on, and grows and shrinks. */
export const growingJob: OperatorScenario = {
  ...common,
  name: 'growing job',
  setUp: () => ({ nodes: 1, node: { programOf: () => worker(false) } }),
  specs: { two: [job({ completions: 2, parallelism: 2 })], three: [job({ completions: 3, parallelism: 3 })] },
  settled: (cluster, spec) => {
    const { active, ready, failed, terminating } = cluster.state.get(jobs, key)?.status ?? {};
    const size = sizes[spec];
    return active === size && ready === size && failed === 1 && terminating === 0;
  },
  // When a pod became ready is chance.
  mayDiffer: { Pod: ['status', 'spec.nodeName'] },
};

/** A suspended Job that is let run to its end. What has ended does not begin again: its specs cannot be taken back. */
export const endingJob: OperatorScenario = {
  ...common,
  name: 'ending job',
  setUp: () => ({ nodes: 1, node: { programOf: () => worker(true) } }),
  specs: {
    waiting: [job({ completions: 3, parallelism: 2, suspend: true })],
    running: [job({ completions: 3, parallelism: 2, suspend: false })],
  },
  settled: (cluster, spec) => {
    const { conditions, completedIndexes, failed } = cluster.state.get(jobs, key)?.status ?? {};
    const is = (wanted: string) =>
      conditions?.some(({ type, status }) => type === wanted && status === 'True') === true;
    if (spec === 'waiting') return is('Suspended');
    const held = cluster.state.list(pods).filter(({ metadata }) => (metadata.finalizers ?? []).length > 0);
    return is('Complete') && completedIndexes === '0-2' && failed === 1 && held.length === 0;
  },
  // Alone it was never suspended.
  mayDiffer: { Job: ['metadata.generation', 'status.conditions'], Pod: ['status', 'spec.nodeName'] },
};
