import type { Client } from '@castellan/client';
import { isStatusError, pods, StatusError, services } from '@castellan/machinery';
import { EtcdRefusedError, type Refusal } from './admin/errors.js';
import type { EtcdAdmin } from './admin/etcd-admin.js';
import { type EtcdCluster, etcdClusters } from './api/etcd-cluster.js';
import { initialStateAnnotation, peerUrlOf, podNameOf, ports } from './names.js';
import type { EtcdStep } from './observation.js';
import type { Sighting } from './observe.js';
import { endpointOf } from './pod-view.js';
import { clientService, memberPod, peerService } from './resources.js';

export interface ActTools {
  readonly client: Client;
  readonly admin: EtcdAdmin;
  readonly signal: AbortSignal;
}

/** Carries out one step: one write, which done twice is done once. Nothing is decided here. */
export async function act(step: EtcdStep, cluster: EtcdCluster, sighting: Sighting, tools: ActTools): Promise<void> {
  const { client, admin, signal } = tools;
  const { namespace = '', name: clusterName = '' } = cluster.metadata;
  const podKey = (name: string) => ({ namespace, name });
  switch (step.kind) {
    case 'createPeerService':
      return unlessItExists(client.create(services, peerService(cluster), { signal }));
    case 'createClientService':
      return unlessItExists(client.create(services, clientService(cluster), { signal }));
    case 'createSeed': {
      await assertNeverLatched(cluster, tools);
      const self = { name: step.name, peerUrl: peerUrlOf(cluster, step.name) };
      const pod = memberPod(cluster, { name: step.name, initialState: 'new', initialCluster: [self] });
      return unlessItExists(client.create(pods, pod, { signal }));
    }
    case 'discardSeed': {
      await assertNeverLatched(cluster, tools);
      await assertSilent(step.name, sighting, tools);
      const options = { preconditions: { uid: step.uid }, gracePeriodSeconds: 0, signal };
      await client.delete(pods, podKey(step.name), options);
      return;
    }
    case 'latchCluster': {
      // Only onto the very object that was observed, so that a latch is never overwritten.
      const { resourceVersion } = cluster.metadata;
      const body = { metadata: { resourceVersion }, status: { clusterID: step.clusterId } };
      const options = { subresource: 'status', signal };
      await client.patch(etcdClusters, podKey(clusterName), { type: 'merge', body }, options);
      return;
    }
    case 'sealSeed': {
      const body = { metadata: { uid: step.uid, annotations: { [initialStateAnnotation]: 'existing' } } };
      await client.patch(pods, podKey(step.name), { type: 'merge', body }, { signal });
      return;
    }
    case 'createPod': {
      const initialCluster = sighting.listedMembers.flatMap(({ name, peerUrls }) =>
        peerUrls.map((peerUrl) => ({ name: name === '' ? podNameOf(peerUrl) : name, peerUrl })),
      );
      const pod = memberPod(cluster, { name: step.name, initialState: 'existing', initialCluster });
      return unlessItExists(client.create(pods, pod, { signal }));
    }
    case 'deletePod': {
      const preconditions = { uid: step.uid };
      const grace = step.isForced ? { gracePeriodSeconds: 0 } : {};
      await client.delete(pods, podKey(step.name), { preconditions, ...grace, signal });
      return;
    }
    case 'addLearner': {
      const added = admin.addLearner(endpointIn(sighting), peerUrlOf(cluster, step.name), signal);
      return unlessRefused(added, 'peerUrlExists', 'memberExists');
    }
    case 'promote':
      return unlessRefused(admin.promote(endpointIn(sighting), step.id, signal), 'notLearner');
    case 'removeMember':
      return unlessRefused(admin.remove(endpointIn(sighting), step.id, signal), 'memberNotFound');
    case 'moveLeader':
      return unlessRefused(admin.moveLeader(endpointIn(sighting), step.id, signal), 'notLeader');
  }
}

/**
 * The last look before the two writes that could harm a living cluster: read from the API server, since the cache may
 * not have heard yet that this cluster was formed.
 */
async function assertNeverLatched(cluster: EtcdCluster, { client, signal }: ActTools): Promise<void> {
  const { namespace = '', name = '', uid } = cluster.metadata;
  const current = await client.get(etcdClusters, { namespace, name }, { signal });
  if (current.metadata.uid === uid && current.status?.clusterID === undefined) return;
  throw StatusError.of('Conflict', `EtcdCluster ${name} has changed since it was observed: it has a cluster by now`);
}

/** A seed that has begun to answer since it was observed is kept. */
async function assertSilent(name: string, { podObjects }: Sighting, { admin, signal }: ActTools): Promise<void> {
  const pod = podObjects.find(({ metadata }) => metadata.name === name);
  const endpoint = pod && endpointOf(pod, ports.client);
  if (endpoint === undefined) return;
  const state = await admin.status(endpoint, signal).catch(() => undefined);
  if (state !== undefined) throw StatusError.of('Conflict', `the seed ${name} answers after all`);
}

function endpointIn({ endpoint }: Sighting): string {
  if (endpoint === undefined) throw new Error('a membership change was planned although no voter answered');
  return endpoint;
}

/** That what we wanted to make is there already is what we wanted. */
async function unlessItExists(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  });
}

/** That etcd finds it done already, too. */
async function unlessRefused(change: Promise<void>, ...done: readonly Refusal[]): Promise<void> {
  await change.catch((error: unknown) => {
    if (!(error instanceof EtcdRefusedError) || !done.includes(error.refusal)) throw error;
  });
}
