import type { Client } from '@castellan/client';
import { type EtcdForecast, etcdClusters, planEtcdClusterFile } from '@castellan/etcd';
import { apiVersionOf } from '@castellan/machinery';
import type { World } from '@castellan/world';
import { CliError } from '../errors.js';
import type { ManifestObject } from '../manifest/parse-manifest.js';

export type Plan = EtcdForecast;

/** What the etcd operator would do once `object` were applied; without a client, where there is nothing yet. */
export async function planFor(object: ManifestObject, world: World, client?: Client): Promise<Plan> {
  const planned = apiVersionOf(etcdClusters);
  if (object.kind !== etcdClusters.kind || object.apiVersion !== planned) {
    throw new CliError('NOT_PLANNABLE', `No operator here plans for ${object.kind} of ${object.apiVersion}.`, {
      next: `give a manifest of ${etcdClusters.kind} (${planned})`,
    });
  }
  const nowMs = world.clock.now();
  return await planEtcdClusterFile({ manifest: object, nowMs, ...(client === undefined ? {} : { client }) });
}

/** Numbered steps, each with its reason and the quorum after it; what is waited for between them; how it ends. */
export function describePlan({ steps, end }: Plan): readonly string[] {
  const lines = steps.flatMap(({ number, action, reason, quorum, thenWaits }) => {
    const place = String(number).padStart(3);
    const indent = ' '.repeat(place.length + 2);
    const votes = quorum.voters === 0 ? '' : `  [${quorum.up} of ${quorum.voters} voters up, quorum ${quorum.needed}]`;
    return [
      `${place}. ${action}${votes}`,
      `${indent}because ${reason}`,
      ...thenWaits.map((wait) => `${indent}then waits: ${wait}`),
    ];
  });
  return [...lines, ...describeEnd(end, steps.length)];
}

function describeEnd(end: Plan['end'], steps: number): readonly string[] {
  const reason = end.reason;
  switch (end.kind) {
    case 'settled':
      return [steps === 0 ? `nothing to do: ${reason}` : `then it is settled: ${reason}`];
    case 'blocked':
      return [`blocked: ${reason}`, `what to do: ${end.remedy}`];
    case 'wait':
      return [`then it waits, and how that ends cannot be foreseen: ${reason}`];
    case 'step':
      return [`and so on: ${reason}`];
  }
}
