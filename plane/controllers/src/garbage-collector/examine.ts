import { createHash } from 'node:crypto';
import {
  events,
  isStatusError,
  type KubernetesObject,
  type ObjectKey,
  type ObjectMeta,
  type OwnerReference,
  type ResourceType,
} from '@castellan/machinery';
import type { ComponentContext } from '../component.js';
import type { ServedResource } from '../discovery.js';
import type { AbsentOwners } from './absent-owners.js';
import { foregroundFinalizer, type GraphNode, type OwnerGraph, orphanFinalizer, phaseOf } from './owner-graph.js';
import { judgeDeletion, judgeOwners, type OwnerFinding, type OwnerState, type Verdict } from './verdict.js';

export interface ExamineContext extends ComponentContext {
  readonly graph: OwnerGraph;
  readonly absentOwners: AbsentOwners;
  /** The served resource of a kind, in whatever version the server prefers. */
  resourceOf(group: string, kind: string): ServedResource | undefined;
  suspect(uids: readonly string[]): void;
  readonly signal: AbortSignal;
}

/**
 * Looks at one object as it is now on the server, judges, and carries the verdict out with one write (orphaning: one per
 * dependent). `again` when the object changed under our hands or an owner could not be judged.
 */
export async function examine(uid: string, context: ExamineContext): Promise<'done' | 'again'> {
  const { graph, client, signal } = context;
  const node = graph.get(uid);
  if (node === undefined || graph.isSettled(uid)) return 'done';
  const live = await client.find(node.resource, keyOfNode(node), { signal });
  // Gone, or another object by that name: the watch tells the graph, if it has not yet.
  if (live?.metadata.uid !== uid) return 'done';

  const dependents = graph.dependentsOf(uid);
  const verdict =
    judgeDeletion(live.metadata, dependents) ??
    judgeOwners(live.metadata, await findOwners(live, node, context), {
      dependents,
      isSeen: (owner) => graph.get(owner) !== undefined,
    });
  try {
    return await carryOut(verdict, node, live.metadata, context);
  } catch (error) {
    if (isStatusError(error, 'Conflict')) return 'again';
    if (isStatusError(error, 'NotFound')) return 'done';
    throw error;
  }
}

async function findOwners(
  live: KubernetesObject,
  node: GraphNode,
  context: ExamineContext,
): Promise<readonly OwnerFinding[]> {
  const findings: OwnerFinding[] = [];
  for (const reference of live.metadata.ownerReferences ?? []) {
    const state = await findOwner(reference, node, context);
    if (state === 'unreachable' || state === 'elsewhere') await recordInvalidReference(live, reference, context);
    findings.push({ reference, state });
  }
  return findings;
}

async function findOwner(reference: OwnerReference, node: GraphNode, context: ExamineContext): Promise<OwnerState> {
  const { absentOwners, client, graph, signal } = context;
  const resource = context.resourceOf(groupOf(reference.apiVersion), reference.kind);
  if (resource === undefined) return 'unknown';
  if (resource.isNamespaced && node.namespace === undefined) return 'unreachable';
  const namespace = resource.isNamespaced ? node.namespace : undefined;
  if (!absentOwners.has(namespace, reference)) {
    const key = namespace === undefined ? { name: reference.name } : { namespace, name: reference.name };
    const owner = await client.find(resource, key, { signal });
    if (owner?.metadata.uid === reference.uid) return phaseOf(owner.metadata) === 'foreground' ? 'waiting' : 'present';
    absentOwners.add(namespace, reference);
  }
  const known = graph.get(reference.uid);
  const isElsewhere =
    known !== undefined &&
    (known.namespace !== namespace || known.name !== reference.name || known.resource.kind !== resource.kind);
  return isElsewhere ? 'elsewhere' : 'absent';
}

async function carryOut(
  verdict: Verdict,
  node: GraphNode,
  live: ObjectMeta,
  context: ExamineContext,
): Promise<'done' | 'again'> {
  const { log } = context;
  const about = { kind: node.resource.kind, namespace: node.namespace, name: node.name };
  const owners = live.ownerReferences ?? [];
  switch (verdict.kind) {
    case 'keep':
      return verdict.lookAgain ? 'again' : 'done';
    case 'delete':
      log.info('deleting what has lost its owners', { ...about, policy: verdict.policy });
      await deleteExactly(node, live, verdict.policy, context);
      return 'done';
    case 'dropOwners':
      await patchMetadata(
        node,
        live,
        { ownerReferences: owners.filter(({ uid }) => !verdict.uids.includes(uid)) },
        context,
      );
      return 'done';
    case 'unblockAndDelete': {
      const ownerReferences = owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
      const patched = await patchMetadata(node, live, { ownerReferences }, context);
      await deleteExactly(node, patched.metadata, 'Foreground', context);
      return 'done';
    }
    case 'awaitDependents':
      context.suspect(verdict.dependents.filter(({ phase }) => phase !== 'foreground').map(({ uid }) => uid));
      return 'done';
    case 'releaseForeground':
      await removeFinalizer(node, live, foregroundFinalizer, context);
      return 'done';
    case 'orphanDependents':
      for (const dependent of verdict.dependents) await orphan(dependent, node.uid, context);
      await removeFinalizer(node, live, orphanFinalizer, context);
      return 'done';
  }
}

/** This version of this object and no other: if its owners changed since it was judged, the server refuses. */
async function deleteExactly(
  node: GraphNode,
  { uid = '', resourceVersion = '' }: ObjectMeta,
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  { client, signal }: ExamineContext,
): Promise<void> {
  const preconditions = { uid, resourceVersion };
  await client.delete(node.resource, keyOfNode(node), { propagationPolicy, preconditions, signal });
}

async function orphan(dependent: GraphNode, ownerUid: string, context: ExamineContext): Promise<void> {
  const { client, signal } = context;
  const live = await client.find(dependent.resource, keyOfNode(dependent), { signal });
  if (live?.metadata.uid !== dependent.uid) return;
  const owners = live.metadata.ownerReferences ?? [];
  const ownerReferences = owners.filter(({ uid }) => uid !== ownerUid);
  if (ownerReferences.length < owners.length)
    await patchMetadata(dependent, live.metadata, { ownerReferences }, context);
}

function removeFinalizer(node: GraphNode, live: ObjectMeta, finalizer: string, context: ExamineContext) {
  const finalizers = live.finalizers?.filter((held) => held !== finalizer) ?? [];
  return patchMetadata(node, live, { finalizers }, context);
}

function patchMetadata(
  node: GraphNode,
  { uid, resourceVersion }: ObjectMeta,
  change: { readonly ownerReferences?: readonly OwnerReference[]; readonly finalizers?: readonly string[] },
  { client, signal }: ExamineContext,
): Promise<KubernetesObject> {
  // An empty list goes as if it had never been there.
  const fields = Object.entries(change).map(([field, list]) => [field, list.length === 0 ? null : list] as const);
  const body = { metadata: { uid, resourceVersion, ...Object.fromEntries(fields) } };
  const type: ResourceType = node.resource;
  return client.patch(type, keyOfNode(node), { type: 'merge', body }, { signal });
}

/** As upstream, once per reference: the name is made from both uids. */
async function recordInvalidReference(
  about: KubernetesObject,
  reference: OwnerReference,
  { client, log, signal, world }: ExamineContext,
): Promise<void> {
  const { namespace, name = '', uid = '', resourceVersion = '' } = about.metadata;
  const digest = createHash('sha256').update(`${uid}/${reference.uid}`).digest('hex').slice(0, 16);
  const now = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const message = `ownerRef [${reference.apiVersion}/${reference.kind}, name: ${reference.name}, uid: ${reference.uid}] does not exist in namespace "${namespace ?? ''}"`;
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: namespace ?? 'default', name: `${name}.${digest}` },
    involvedObject: {
      apiVersion: about.apiVersion ?? '',
      kind: about.kind ?? '',
      name,
      uid,
      resourceVersion,
      ...(namespace === undefined ? {} : { namespace }),
    },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message,
    source: { component: 'garbage-collector-controller' },
    reportingComponent: 'garbage-collector-controller',
    reportingInstance: '',
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
  try {
    await client.create(events, event, { signal });
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) log.debug('event not written', { error: String(error) });
  }
}

function keyOfNode({ namespace, name }: GraphNode): ObjectKey {
  return namespace === undefined ? { name } : { namespace, name };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
