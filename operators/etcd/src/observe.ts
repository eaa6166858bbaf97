import type { Client } from '@castellan/client';
import { type Pod, pods, services } from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';
import type { World } from '@castellan/world';
import type { EtcdAdmin } from './admin/etcd-admin.js';
import type { EtcdMember, EtcdMemberState } from './admin/etcd-member.js';
import type { EtcdCluster } from './api/etcd-cluster.js';
import type { ClusterMemory } from './memory.js';
import { clientServiceName, podNameOf, ports, seedNameOf } from './names.js';
import type { EtcdObservation, Membership, MemberView } from './observation.js';
import { endpointOf, runningForMs, viewPod } from './pod-view.js';

/** A learner has this long to catch up, from when its process was started. Until it is, it is waited for. */
const joinDeadlineMs = 5 * 60_000;
/** The part of the leader's log that a learner must have, as etcd itself demands. */
const caughtUpShare = 0.9;

export interface ObserveSources {
  readonly client: Client;
  readonly cache: Reader;
  readonly admin: EtcdAdmin;
  readonly world: World;
  readonly memory: ClusterMemory;
  readonly signal: AbortSignal;
}

/** An observation for the planner, and with it what carrying out its decision needs. */
export interface Sighting extends EtcdObservation {
  readonly podObjects: readonly Pod[];
  /** The members as etcd lists them; empty while unknown. */
  readonly listedMembers: readonly EtcdMember[];
  /** Where a change is best asked for: the leader, else any voter that answers. */
  readonly endpoint: string | undefined;
}

/** What one member answered. */
interface Answer {
  readonly podName: string;
  readonly endpoint: string;
  readonly state: EtcdMemberState;
  /** Absent for learners, which do not know. */
  readonly members: readonly EtcdMember[] | undefined;
}

/** Reads pods and services, then asks every running member. Writes nothing; what did not answer is said to be unknown. */
export async function observe(cluster: EtcdCluster, sources: ObserveSources): Promise<Sighting> {
  const { cache, world, memory } = sources;
  const { name = '', namespace = '', uid = '' } = cluster.metadata;
  // Pods before members: see EtcdObservation.
  const cached = cache.ownedBy(pods, uid);
  const answers = await askAll(cached, sources);
  const list = newestList(answers);
  const found = await findUnseen(cluster, cached, list?.members ?? [], sources);
  const ordered = [...cached, ...found].toSorted(byCreation);
  memory.noteAnswers(answers.map(({ state }) => state.memberId));

  const isOurs = (service: string) =>
    cache.get(services, { namespace, name: service })?.metadata.ownerReferences?.some((owner) => owner.uid === uid);
  const nowMs = world.clock.now();
  const views = ordered.map((pod, index) => viewPod(pod, index, nowMs));
  return {
    hasPeerService: isOurs(name) === true,
    hasClientService: isOurs(clientServiceName(name)) === true,
    latchedClusterId: cluster.status?.clusterID,
    seedName: seedNameOf(cluster),
    freshName: `${name}-${world.random.string(10)}`,
    pods: views,
    membership: membershipOf(answers, list, ordered, nowMs, memory),
    pause: memory.pause(),
    podObjects: ordered,
    listedMembers: list?.members ?? [],
    endpoint: (leaderOf(answers) ?? list)?.endpoint,
  };
}

async function askAll(candidates: readonly Pod[], { admin, signal }: ObserveSources): Promise<readonly Answer[]> {
  const asked = candidates.map(async (pod): Promise<Answer | undefined> => {
    const endpoint = endpointOf(pod, ports.client);
    if (endpoint === undefined) return undefined;
    // A member that does not answer is not an error here: its absence among the answers is what was observed.
    const state = await admin.status(endpoint, signal).catch(() => undefined);
    if (state === undefined) return undefined;
    const list = state.isLearner ? undefined : await admin.members(endpoint, signal).catch(() => undefined);
    return { podName: pod.metadata.name ?? '', endpoint, state, members: list?.members };
  });
  return (await Promise.all(asked)).filter((answer) => answer !== undefined);
}

/** Who says that it leads; of several the one of the latest term, since the others have been deposed unknowingly. */
function leaderOf(answers: readonly Answer[]): Answer | undefined {
  const claims = answers.filter(({ state }) => state.leaderId === state.memberId);
  return claims.toSorted((one, other) => other.state.raftTerm - one.state.raftTerm)[0];
}

/** The leader's list; without a leader that of the member which has applied most. Any other may be out of date. */
function newestList(answers: readonly Answer[]) {
  const lists = answers.flatMap((answer) => {
    const { members, state } = answer;
    return members?.some(({ id }) => id === state.memberId) ? [{ ...answer, members }] : [];
  });
  const leader = leaderOf(answers);
  const rank = ({ endpoint, state }: Answer) =>
    endpoint === leader?.endpoint ? Number.POSITIVE_INFINITY : state.raftAppliedIndex;
  return lists.toSorted((one, other) => rank(other) - rank(one))[0];
}

/** A member's pod that the cache does not show is looked for at the API server before anyone calls it gone. */
async function findUnseen(
  cluster: EtcdCluster,
  seen: readonly Pod[],
  members: readonly EtcdMember[],
  { client, signal }: ObserveSources,
): Promise<readonly Pod[]> {
  const { namespace = '', uid } = cluster.metadata;
  const names = members.map(memberPodName).filter((name) => !seen.some((pod) => pod.metadata.name === name));
  const found = await Promise.all(names.map((name) => client.find(pods, { namespace, name }, { signal })));
  return found
    .filter((pod) => pod !== undefined)
    .filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

function membershipOf(
  answers: readonly Answer[],
  list: ReturnType<typeof newestList>,
  allPods: readonly Pod[],
  nowMs: number,
  memory: ClusterMemory,
): Membership {
  const ids = new Set(answers.map(({ state }) => state.clusterId));
  if (ids.size > 1) {
    const claims = answers.map(({ podName, state }) => `${podName} is in ${state.clusterId}`).join(', ');
    return { kind: 'mismatch', reason: `members belong to different clusters: ${claims}` };
  }
  if (list === undefined) {
    const learners = answers.filter(({ state }) => state.isLearner).map(({ podName }) => podName);
    const reason = answers.length === 0 ? 'none is up' : 'only learners are up, and they do not know the members';
    return { kind: 'unknown', reason, learners };
  }
  const leader = leaderOf(answers);
  const view = (member: EtcdMember): MemberView => {
    const state = answers.find((answer) => answer.state.memberId === member.id)?.state;
    const pod = allPods.find(({ metadata }) => metadata.name === memberPodName(member));
    const neededIndex = (leader?.state.raftIndex ?? Number.POSITIVE_INFINITY) * caughtUpShare;
    const isBehind = (state?.raftAppliedIndex ?? 0) < neededIndex || memory.wasLearnerBehind();
    return {
      id: member.id,
      name: memberPodName(member),
      isLearner: member.isLearner,
      isStarted: member.name !== '',
      isLeader: leader?.state.memberId === member.id,
      // One that is cut off from the leader may answer too, and is of no use to a quorum.
      isHealthy: leader !== undefined && state?.leaderId === leader.state.memberId,
      isCaughtUp: member.isLearner && !isBehind,
      isOverdue: member.isLearner && isBehind && runningForMs(pod, nowMs) > joinDeadlineMs,
      version: state?.version,
    };
  };
  return { kind: 'known', clusterId: list.state.clusterId, members: list.members.map(view) };
}

/** etcd knows a member's name only once it has started, its peer URL always. */
function memberPodName(member: EtcdMember): string {
  return podNameOf(member.peerUrls[0] ?? member.name);
}

/** Creation times are whole seconds; the name decides between equals, so that the order is the same in each pass. */
function byCreation(one: Pod, other: Pod): number {
  const key = ({ metadata }: Pod) => `${metadata.creationTimestamp} ${metadata.name}`;
  return key(one) < key(other) ? -1 : 1;
}
