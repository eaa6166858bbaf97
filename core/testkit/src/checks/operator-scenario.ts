import type { KubernetesObject, ResourceType } from '@castellan/machinery';
import type { TestCluster, TestClusterOptions } from '../cluster/test-cluster.js';

/** What the stock checks need to know of an operator: what it is asked for, and when it is done. */
export interface OperatorScenario {
  readonly name: string;
  /** The operator's process in the cluster: where faults are put. `plane` for controllers of the plane. */
  readonly process: string;
  /** What the cluster of one run is made of; asked anew for each, so that nothing of one run is in another. */
  setUp(): Pick<TestClusterOptions, 'operators' | 'node' | 'nodes'>;
  /** What is there before anything is asked for. */
  readonly arrange?: readonly KubernetesObject[];
  /** What may be asked for, by name, two at least: each is applied as a whole. The first two are the story of the checks with faults. */
  readonly specs: Readonly<Record<string, readonly KubernetesObject[]>>;
  /** What nobody can fulfil; may be refused by the API server. */
  readonly badSpec?: readonly KubernetesObject[];
  /** Whether what was asked for under this name is so. */
  settled(cluster: TestCluster, spec: string): boolean;
  /** The kinds whose objects are the outcome. */
  readonly outcome: readonly ResourceType[];
  /** Paths below objects of a kind that may differ between two good ends, such as `status.leader`; by kind. */
  readonly mayDiffer?: Readonly<Record<string, readonly string[]>>;
  /** Only requests and watches whose path matches meet faults; all but Kubernetes Events when absent. */
  readonly path?: RegExp;
  /** Simulated milliseconds that settling may take; 5 min when absent. */
  readonly settleMs?: number;
}

/** One try of one check. */
export interface CheckPoint {
  readonly check: CheckName;
  /** Which, such as `write 3` or `a, b before a is done`. */
  readonly point: string;
}

export type CheckName = (typeof checkNames)[number];

export const checkNames = [
  'second reconcile',
  'crash at a write',
  'read stale by one',
  'read stale by many',
  'event missed',
  'specs in sequence',
  'bad spec, then good',
] as const;
