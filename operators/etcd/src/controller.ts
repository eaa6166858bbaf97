// Walk 6/10: one pass over one EtcdCluster: observe, plan (plan.ts), act, and write down what was seen and decided.
import { isDeepStrictEqual } from 'node:util';
import { isStatusError, type ObjectKey, pods, services } from '@castellan/machinery';
import type { Controller, Decision, ReconcileContext, ReconcileResult } from '@castellan/runtime';
import { act } from './act.js';
import { EtcdRefusedError, EtcdUnreachableError } from './admin/errors.js';
import { type EtcdAdmin, etcdAdmin } from './admin/etcd-admin.js';
import { type EtcdCluster, type EtcdClusterStatus, etcdClusters } from './api/etcd-cluster.js';
import { desiredOf } from './desired.js';
import { ClusterMemory, sayRefusal } from './memory.js';
import type { EtcdStep } from './observation.js';
import { observe, type Sighting } from './observe.js';
import { lookAgainMs, planEtcdCluster } from './plan.js';
import { stepEvents, warningsOf } from './report/events.js';
import { statusOf } from './report/status.js';
import { situationOf } from './situation.js';

/** After a step its effect is looked for at once; the watches bring most of it anyway. */
const afterStepMs = 50;

export interface EtcdControllerOptions {
  /** How members are asked; over HTTP by default. */
  readonly admin?: EtcdAdmin;
}

export function etcdController(options: EtcdControllerOptions = {}): Controller<EtcdCluster> {
  const admin = options.admin ?? etcdAdmin();
  /** By the EtcdCluster's key, with its uid: a new cluster of an old name begins with an empty memory. */
  const memories = new Map<string, { readonly uid: string; readonly memory: ClusterMemory }>();

  function memoryOf(cluster: EtcdCluster, context: ReconcileContext): ClusterMemory {
    const { namespace, name, uid = '' } = cluster.metadata;
    const known = memories.get(`${namespace}/${name}`);
    if (known?.uid === uid) return known.memory;
    const memory = new ClusterMemory(context.world.clock);
    memories.set(`${namespace}/${name}`, { uid, memory });
    return memory;
  }

  return {
    name: 'etcd',
    for: etcdClusters,
    owns: [pods, services],
    concurrency: 8,
    async reconcile(key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult> {
      const cluster = context.cache.get(etcdClusters, key);
      if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) {
        // The garbage collector takes pods and services, which the cluster owns.
        memories.delete(`${key.namespace}/${key.name}`);
        return undefined;
      }
      const memory = memoryOf(cluster, context);
      const sighting = await observe(cluster, { ...context, admin, memory });
      const desired = desiredOf(cluster);
      const decision = planEtcdCluster(desired, sighting.observation);
      const outcome = await carryOut(decision, cluster, sighting, memory, { ...context, admin });
      const situation = situationOf(desired, sighting.observation);
      const status = statusOf({ cluster, situation, decision: outcome, nowMs: context.world.clock.now() });
      const isWritten = await writeStatus(cluster, status, context);
      const warnings = isWritten ? warningsOf({ cluster, status, decision: outcome, pods: sighting.pods }) : [];
      for (const event of [...stepEvents(outcome), ...warnings]) context.events.record(cluster, event);
      return { requeueAfterMs: lookAgainAfter(outcome) };
    },
  };
}

/** Does the step, if there is one. Where etcd does not do it now, that is a wait with etcd's own words as its reason. */
async function carryOut(
  decision: Decision<EtcdStep>,
  cluster: EtcdCluster,
  sighting: Sighting,
  memory: ClusterMemory,
  tools: ReconcileContext & { readonly admin: EtcdAdmin },
): Promise<Decision<EtcdStep>> {
  if (decision.kind !== 'step') return decision;
  const fields = { step: decision.step.kind, reason: decision.reason, cluster: cluster.metadata.name };
  try {
    await act(decision.step, cluster, sighting, tools);
    tools.log.info('step done', fields);
    return decision;
  } catch (error) {
    if (error instanceof EtcdRefusedError) memory.noteRefusal(error);
    const later = whyLater(error);
    if (later === undefined) throw error;
    tools.log.debug('step not done', { ...fields, error: later.reason });
    return later;
  }
}

/** Where all that this error asks for is to look again: the wait, with its reason for people. */
function whyLater(error: unknown): Extract<Decision<EtcdStep>, { kind: 'wait' }> | undefined {
  const { soon, later } = lookAgainMs;
  if (error instanceof EtcdRefusedError) return { kind: 'wait', reason: sayRefusal(error), afterMs: soon };
  // Whether it was carried out will be observed.
  if (error instanceof EtcdUnreachableError) return { kind: 'wait', reason: error.message, afterMs: soon };
  if (isStatusError(error, 'Conflict', 'NotFound')) return { kind: 'wait', reason: error.message, afterMs: soon };
  // What the API server will not have, such as a pod with impossible resources, is told where people look for it.
  return isStatusError(error) ? { kind: 'wait', reason: error.message, afterMs: later } : undefined;
}

/**
 * Only what changed, and only over the status that was read: a latched cluster ID is never lost to an old copy. `false`
 * where nothing was written.
 */
async function writeStatus(
  cluster: EtcdCluster,
  status: EtcdClusterStatus,
  context: ReconcileContext,
): Promise<boolean> {
  if (isDeepStrictEqual(cluster.status, status)) return false;
  try {
    const options = { subresource: 'status', signal: context.signal };
    await context.client.update(etcdClusters, { ...cluster, status }, options);
    return true;
  } catch (error) {
    // Someone else wrote in between; the watch brings it, and with it the next pass.
    if (isStatusError(error, 'Conflict', 'NotFound')) return false;
    throw error;
  }
}

function lookAgainAfter(decision: Decision<EtcdStep>): number {
  switch (decision.kind) {
    case 'step':
      return afterStepMs;
    case 'wait':
      return Math.min(decision.afterMs, lookAgainMs.later);
    case 'blocked':
    case 'settled':
      return lookAgainMs.later;
  }
}
