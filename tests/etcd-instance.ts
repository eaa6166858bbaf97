import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@castellan/client';
import { type KubernetesObject, type Pod, pods, type ResourceType } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { repository, world } from './plane-process.js';

/** What the tests read of an EtcdCluster; written here by hand so that a change of the API shows. */
export interface EtcdClusterView extends KubernetesObject {
  readonly spec: { readonly size: number; readonly version?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly clusterID?: string;
    readonly leader?: string;
    readonly currentVersion?: string;
    readonly members?: { readonly ready?: readonly string[]; readonly unready?: readonly string[] };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

export const etcdClusters: ResourceType<EtcdClusterView> = {
  group: 'etcd.database.coreos.com',
  version: 'v1beta2',
  kind: 'EtcdCluster',
  plural: 'etcdclusters',
  isNamespaced: true,
};

export const seedManifest = join(repository, 'examples/etcd/cluster.yaml');
export const clusterKey = { namespace: 'default', name: 'example-etcd-cluster' };

export async function readSeedManifest(): Promise<string> {
  return await readFile(seedManifest, 'utf8');
}

/** For `skip` of a test that speaks with members at their pods' addresses. */
export const membersOutOfReach: string | false =
  process.getuid?.() === 0 ? false : "needs root: an ordinary user's pods are in a network of their own";

/** Waits until the instance is Available with `size` ready members, and says in the error where it stood. */
export async function waitForMembers(
  client: Client,
  size: number,
  { deadlineMs = 90_000, without }: { readonly deadlineMs?: number; readonly without?: string } = {},
): Promise<EtcdClusterView> {
  let last: EtcdClusterView | undefined;
  const isThere = async (): Promise<EtcdClusterView | undefined> => {
    last = await client.find(etcdClusters, clusterKey);
    const available = last?.status?.conditions?.find(({ type }) => type === 'Available');
    const { ready = [], unready = [] } = last?.status?.members ?? {};
    const isAsWanted = ready.length === size && unready.length === 0 && !ready.includes(without ?? '');
    return available?.status === 'True' && isAsWanted ? last : undefined;
  };
  const what = () => `${size} ready members; last status: ${JSON.stringify(last?.status)}`;
  return await waitFor(world, isThere, { what, deadlineMs, everyMs: 100 });
}

/** Those that are here to stay: without the ones that are being deleted. */
export async function memberPods(client: Client): Promise<readonly Pod[]> {
  const list = await client.list(pods, { namespace: 'default', labelSelector: `etcd_cluster=${clusterKey.name}` });
  return list.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** One call of a member's JSON gateway; fails when the reply is not 200. */
export async function callEtcd(
  podIp: string,
  path: string,
  body: unknown,
  deadlineMs = 3_000,
): Promise<Record<string, unknown>> {
  const reply = await fetch(`http://${podIp}:2379${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(deadlineMs),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path} at ${podIp}: ${reply.status} ${text}`);
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`${path} at ${podIp}: not an object: ${text}`);
  return { ...parsed };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

export async function put(podIp: string, key: string, value: string): Promise<void> {
  await callEtcd(podIp, '/v3/kv/put', { key: base64(key), value: base64(value) });
}

/** All keys under a prefix, as text. */
export async function keysUnder(podIp: string, prefix: string): Promise<ReadonlySet<string>> {
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  const reply = await callEtcd(
    podIp,
    '/v3/kv/range',
    { key: base64(prefix), range_end: base64(end), keys_only: true },
    10_000,
  );
  const entries = Array.isArray(reply.kvs) ? reply.kvs : [];
  return new Set(entries.map((entry: { key: string }) => Buffer.from(entry.key, 'base64').toString()));
}

/**
 * Writes keys one after another until stopped, to whichever member answers, and remembers those that were acknowledged.
 * A write that failed may or may not be there; one that was acknowledged must be.
 */
export class CountingWriter {
  readonly acknowledged: string[] = [];
  /** The longest time without an acknowledged write, in ms. */
  longestGapMs = 0;
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(client: Client) {
    this.#done = this.#write(client);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #write(client: Client): Promise<void> {
    let addresses: readonly string[] = [];
    let lastMs = world.clock.monotonicNow();
    for (let number = 0; !this.#isStopped; number += 1) {
      if (number % 20 === 0 || addresses.length === 0) addresses = await this.#addresses(client);
      const address = addresses[number % Math.max(addresses.length, 1)];
      const key = `counted/${String(number).padStart(8, '0')}`;
      try {
        if (address === undefined) throw new Error('no member has an address yet');
        await put(address, key, 'x');
        this.acknowledged.push(key);
        const nowMs = world.clock.monotonicNow();
        this.longestGapMs = Math.max(this.longestGapMs, nowMs - lastMs);
        lastMs = nowMs;
      } catch {
        addresses = [];
        await world.clock.sleep(20);
      }
    }
  }

  async #addresses(client: Client): Promise<readonly string[]> {
    const list = await memberPods(client).catch(() => []);
    return list.flatMap((pod) => {
      const isReady = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
      return isReady && pod.status?.podIP !== undefined ? [pod.status.podIP] : [];
    });
  }
}
