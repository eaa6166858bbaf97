import type { OperatorScenario } from '@castellan/testkit';
import { replicaSetChecks } from './replica-set-checks.js';
import { statefulSetChecks } from './stateful-set-checks.js';

/** The stock checks of the plane's controllers of workloads. */
export const workloadChecks: readonly OperatorScenario[] = [replicaSetChecks, statefulSetChecks];
