import type { Client } from '@castellan/client';
import { type Pod, pods, services } from '@castellan/machinery';
import type { Decision } from '@castellan/runtime';
import { type EtcdCluster, type EtcdClusterManifest, type EtcdMemberStatus, etcdClusters } from './api/etcd-cluster.js';
import { defineEtcdPlanner } from './controller.js';
import { desiredOf } from './desired.js';
import { type QuorumCount, quorumIn } from './model/state.js';
import { clientServiceName, seedNameOf } from './names.js';
import type { EtcdObservation, EtcdStep, MemberView } from './observation.js';
import { viewPod } from './pod-view.js';
import { sayStep } from './report/say-step.js';

/** What would be done for an EtcdCluster if nothing went wrong, step by step. */
export interface EtcdForecast {
  readonly steps: readonly EtcdForecastStep[];
  /** How it ends: `settled`, or `blocked` with what a person must do. */
  readonly end: Decision<EtcdStep>;
}

export interface EtcdForecastStep {
  /** From 1. */
  readonly number: number;
  readonly action: string;
  readonly reason: string;
  /** Voters right after the step, how many of them are up, and how many must be. */
  readonly quorum: QuorumCount;
  /** What is waited for after the step, in order. */
  readonly thenWaits: readonly string[];
}

/** The cluster as the API server knows it now; absent for one that is yet to be created. */
export interface ExistingEtcdCluster {
  readonly cluster: EtcdCluster;
  readonly pods: readonly Pod[];
  readonly serviceNames: readonly string[];
  readonly nowMs: number;
}

/**
 * What `castellan plan -f` prints for an EtcdCluster manifest: the planner that the operator runs, over the model that
 * it is explored with. Future pods are numbered; their real names will end in ten random characters.
 */
export function forecastEtcdCluster(manifest: EtcdCluster, existing?: ExistingEtcdCluster): EtcdForecast {
  const observation = existing && observationOf(existing);
  const { entries, end } = defineEtcdPlanner().forecast(desiredOf(manifest), observation);
  const steps = entries.map(({ number, step, reason, after, thenWaits }) => ({
    number,
    action: sayStep(step),
    reason,
    quorum: quorumIn(after),
    thenWaits,
  }));
  return { steps, end };
}

export interface PlanFileOptions {
  /** The document as read from the file. */
  readonly manifest: unknown;
  /** Where the cluster may be already; without it, it is planned from nothing. */
  readonly client?: Client;
  readonly namespace?: string;
  readonly nowMs: number;
  readonly signal?: AbortSignal;
}

/** As `forecastEtcdCluster`, with what there is read from the API server. Throws when the manifest is no EtcdCluster. */
export async function planEtcdClusterFile(options: PlanFileOptions): Promise<EtcdForecast> {
  const { client, nowMs, signal } = options;
  const manifest = parseEtcdCluster(options.manifest);
  const { name = '', namespace = options.namespace ?? 'default' } = manifest.metadata;
  const read = signal === undefined ? {} : { signal };
  const cluster = await client?.find(etcdClusters, { namespace, name }, read);
  if (client === undefined || cluster === undefined) return forecastEtcdCluster(manifest);
  const [podList, serviceList] = await Promise.all([
    client.list(pods, { namespace, labelSelector: `etcd_cluster=${name}`, ...read }),
    client.list(services, { namespace, labelSelector: `etcd_cluster=${name}`, ...read }),
  ]);
  const isOwned = ({ metadata }: Pod) => metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid);
  const serviceNames = serviceList.items.map(({ metadata }) => metadata.name ?? '');
  return forecastEtcdCluster(manifest, { cluster, pods: podList.items.filter(isOwned), serviceNames, nowMs });
}

function parseEtcdCluster(document: unknown): EtcdCluster {
  const { kind, metadata, spec } = isRecord(document) ? document : {};
  if (kind !== etcdClusters.kind)
    throw new Error(`kind is ${JSON.stringify(kind)}; this plans an ${etcdClusters.kind}`);
  if (!isRecord(metadata) || typeof metadata.name !== 'string') throw new Error('metadata.name is missing');
  if (!isRecord(spec)) throw new Error('spec is missing; it needs at least size');
  // What else may be wrong with the spec, the planner says as it would in the status.
  return etcdClusters.applyDefaults({ ...(document as object), metadata, spec: spec as EtcdClusterManifest['spec'] });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the API server can tell: members are those that the operator last saw. Nobody is asked, so nothing is refused. */
function observationOf({ cluster, pods: found, serviceNames, nowMs }: ExistingEtcdCluster): EtcdObservation {
  const { metadata, status } = cluster;
  const { name = '' } = metadata;
  const members = status?.memberDetails ?? [];
  return {
    hasPeerService: serviceNames.includes(name),
    hasClientService: serviceNames.includes(clientServiceName(name)),
    latchedClusterId: status?.clusterID,
    seedName: seedNameOf(cluster),
    freshName: `${name}-${found.length + 1}`,
    pods: found.map((pod, age) => viewPod(pod, age, nowMs)),
    membership: { kind: 'known', clusterId: status?.clusterID ?? '', members: members.map(viewMember) },
    pause: undefined,
  };
}

function viewMember({ name, id, role, isHealthy, version }: EtcdMemberStatus): MemberView {
  return {
    id,
    name,
    isLearner: role === 'learner',
    isStarted: role !== 'learner' || isHealthy,
    isLeader: role === 'leader',
    isHealthy,
    isCaughtUp: false,
    isOverdue: false,
    version,
  };
}
