// Walk 6/10: one EtcdCluster, pass by pass: observe, plan (plan.ts), act, and write down what was seen and decided.
import { pods, services } from '@castellan/machinery';
import {
  type Controller,
  cached,
  type DefinedPlanner,
  definePlanner,
  NotNowError,
  type Pass,
} from '@castellan/runtime';
import { act } from './act.js';
import { EtcdRefusedError, EtcdUnreachableError } from './admin/errors.js';
import { type EtcdAdmin, etcdAdmin } from './admin/etcd-admin.js';
import { type EtcdCluster, type EtcdClusterStatus, etcdClusters } from './api/etcd-cluster.js';
import { desiredOf } from './desired.js';
import { ClusterMemory, sayRefusal } from './memory.js';
import { invariants } from './model/invariants.js';
import { etcdModel } from './model/model.js';
import type { EtcdState } from './model/state.js';
import type { EtcdDesired, EtcdObservation, EtcdStep } from './observation.js';
import { observe, type Sighting } from './observe.js';
import { lookAgainMs, planEtcdCluster } from './plan.js';
import { stepEvents, warningsOf } from './report/events.js';
import { statusOf } from './report/status.js';
import { situationOf } from './situation.js';

export interface EtcdControllerOptions {
  /** How members are asked; over HTTP by default. */
  readonly admin?: EtcdAdmin;
}

type EtcdPass = Pass<EtcdCluster, EtcdDesired, Sighting, EtcdStep>;

export type EtcdPlanner = DefinedPlanner<EtcdCluster, EtcdDesired, EtcdObservation, EtcdStep, EtcdState>;

/** The operator of etcd clusters: what it decides, what it does, and the model it is forecast and explored with. */
export function defineEtcdPlanner(options: EtcdControllerOptions = {}): EtcdPlanner {
  const admin = options.admin ?? etcdAdmin();
  return definePlanner<EtcdCluster, EtcdDesired, EtcdObservation, EtcdStep, EtcdState, Sighting, ClusterMemory>({
    name: 'etcd',
    for: etcdClusters,
    // The garbage collector takes them with the cluster.
    owns: [cached(pods, { wholeCache: true }), services],
    concurrency: 8,
    timing: { whenQuietMs: lookAgainMs.later, longestWaitMs: lookAgainMs.later },
    remember: (_, { clock }) => new ClusterMemory(clock),
    desired: desiredOf,
    observe: (cluster, context) => observe(cluster, { ...context, admin }),
    plan: planEtcdCluster,
    async act(step, { object, seen, memory, client, signal }) {
      try {
        await act(step, object, seen, { client, admin, signal });
      } catch (error) {
        if (error instanceof EtcdRefusedError) {
          memory.noteRefusal(error);
          throw new NotNowError(sayRefusal(error), lookAgainMs.soon, { cause: error });
        }
        // Whether it was carried out will be observed.
        if (error instanceof EtcdUnreachableError) {
          throw new NotNowError(error.message, lookAgainMs.soon, { cause: error });
        }
        throw error;
      }
    },
    status: reportStatus,
    events: (pass) => [
      ...stepEvents(pass.decision),
      ...warningsOf({ cluster: pass.object, status: reportStatus(pass), pods: pass.seen.podObjects }),
    ],
    model: etcdModel(),
    invariants,
  });
}

function reportStatus({ object, desired, seen, decision, nowMs }: EtcdPass): EtcdClusterStatus {
  return statusOf({ cluster: object, situation: situationOf(desired, seen), decision, nowMs });
}

export function etcdController(options: EtcdControllerOptions = {}): Controller<EtcdCluster> {
  return defineEtcdPlanner(options).controller;
}
