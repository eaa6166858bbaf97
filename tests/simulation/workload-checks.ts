import type { OperatorScenario } from '@castellan/testkit';
import { daemonSetChecks } from './daemon-set-checks.js';
import { deploymentChecks } from './deployment-checks.js';
import { replicaSetChecks } from './replica-set-checks.js';
import { statefulSetChecks } from './stateful-set-checks.js';

/** The stock checks of the plane's controllers of workloads. */
export const workloadChecks: readonly OperatorScenario[] = [
  replicaSetChecks,
  deploymentChecks,
  daemonSetChecks,
  statefulSetChecks,
];
