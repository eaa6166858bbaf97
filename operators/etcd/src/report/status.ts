import type { Condition } from '@castellan/machinery';
import type { Decision } from '@castellan/runtime';
import { hexId } from '../admin/wire.js';
import type { EtcdCluster, EtcdClusterStatus, EtcdMemberStatus, EtcdPhase } from '../api/etcd-cluster.js';
import { targetVersionOf } from '../desired.js';
import { clientServiceName, ports } from '../names.js';
import type { EtcdStep, MemberView } from '../observation.js';
import { isLost, type Situation } from '../situation.js';

export interface StatusInput {
  readonly cluster: EtcdCluster;
  readonly situation: Situation;
  readonly decision: Decision<EtcdStep>;
  readonly nowMs: number;
}

/** The whole status, from what was observed and decided in this pass. */
export function statusOf(input: StatusInput): EtcdClusterStatus {
  const { cluster, situation, decision } = input;
  const { members, observed } = situation;
  const isReady = (member: MemberView) => member.isHealthy && situation.podOf(member.name)?.isReady === true;
  const ready = members.filter((member) => !member.isLearner && isReady(member)).map(({ name }) => name);
  const unready = members.map(({ name }) => name).filter((name) => !ready.includes(name));
  const currentVersion = lowestVersion(members);
  const clusterID = observed.latchedClusterId ?? latchedBy(decision);
  const isKnown = observed.membership.kind === 'known';
  const previous = cluster.status;
  const isAvailable = decision.kind === 'settled' && unready.length === 0;
  return {
    phase: phaseOf(previous, decision, isAvailable),
    reason: decision.kind === 'blocked' ? `${decision.reason}; ${decision.remedy}` : decision.reason,
    conditions: conditionsOf(input, isAvailable),
    controlPaused: situation.desired.isPaused,
    ...(cluster.metadata.generation !== undefined && { observedGeneration: cluster.metadata.generation }),
    size: members.length,
    readyMembers: ready.length,
    serviceName: clientServiceName(situation.desired.name),
    clientPort: ports.client,
    members: { ready: ready.toSorted(), unready: unready.toSorted() },
    // While nobody answers, the members that were last known help a person more than none.
    memberDetails: isKnown ? members.map(memberStatus) : (previous?.memberDetails ?? []).map(asUnhealthy),
    ...(currentVersion === undefined
      ? previous?.currentVersion !== undefined && { currentVersion: previous.currentVersion }
      : { currentVersion }),
    targetVersion: targetVersionOf(cluster),
    ...(clusterID !== undefined && { clusterID }),
    ...(situation.leader !== undefined && { leader: situation.leader.name }),
  };
}

function latchedBy(decision: Decision<EtcdStep>): string | undefined {
  return decision.kind === 'step' && decision.step.kind === 'latchCluster' ? decision.step.clusterId : undefined;
}

function phaseOf(
  previous: EtcdClusterStatus | undefined,
  decision: Decision<EtcdStep>,
  isAvailable: boolean,
): EtcdPhase {
  if (decision.kind === 'blocked') return 'Failed';
  const hasRun = previous?.phase === 'Running' || (previous?.phase === 'Failed' && previous.clusterID !== undefined);
  return isAvailable || hasRun ? 'Running' : 'Creating';
}

function memberStatus(member: MemberView): EtcdMemberStatus {
  return {
    name: member.name,
    id: hexId(member.id),
    role: member.isLeader ? 'leader' : member.isLearner ? 'learner' : 'voter',
    isHealthy: member.isHealthy,
    ...(member.version !== undefined && { version: member.version }),
  };
}

function asUnhealthy(member: EtcdMemberStatus): EtcdMemberStatus {
  return { ...member, isHealthy: false, role: member.role === 'leader' ? 'voter' : member.role };
}

/** Versions are compared number by number: 3.10.0 is above 3.9.0. */
function lowestVersion(members: readonly MemberView[]): string | undefined {
  const versions = members.map(({ version }) => version).filter((version) => version !== undefined);
  return versions.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))[0];
}

/** One row per condition: whether it is true, and its reason in one word if so and if not. The message says the rest. */
function conditionsOf(
  { cluster, situation, decision, nowMs }: StatusInput,
  isAvailable: boolean,
): readonly Condition[] {
  const { voters, desired, observed, hasQuorum, podOf } = situation;
  const isLatched = observed.latchedClusterId !== undefined;
  const isKnown = observed.membership.kind === 'known';
  const isMismatch =
    observed.membership.kind === 'mismatch' ||
    (observed.membership.kind === 'known' && isLatched && observed.membership.clusterId !== observed.latchedClusterId);
  const hasRun = cluster.status?.phase === 'Running' || cluster.status?.phase === 'Failed';
  const hasLost = voters.some((voter) => isLost(voter, podOf(voter.name)));
  const isUnwell = isLatched && (!isKnown || voters.some((voter) => !voter.isHealthy));
  const isQuorumLost = isLatched && !hasQuorum;
  const isBusy = (decision.kind === 'step' || decision.kind === 'wait') && !desired.isPaused;
  const unavailable = isQuorumLost ? 'QuorumLost' : decision.kind === 'blocked' ? 'Blocked' : 'MembersNotReady';
  const rows: readonly (readonly [type: string, holds: boolean, ifSo: string, ifNot: string])[] = [
    ['Available', isAvailable, 'AllMembersReady', unavailable],
    ['Progressing', isBusy, decision.kind === 'step' ? 'Acting' : 'Waiting', desired.isPaused ? 'Paused' : 'Idle'],
    ['Scaling', isKnown && isLatched && !hasLost && voters.length !== desired.size, 'SizeDiffers', 'SizeAsWanted'],
    ['Recovering', hasLost || (hasRun && isUnwell && isBusy), 'MemberLost', 'NothingToRecover'],
    ['Degraded', isUnwell || decision.kind === 'blocked', 'MembersUnhealthy', 'AllMembersHealthy'],
    ['QuorumLost', isQuorumLost, isKnown ? 'TooFewVoters' : 'NoMemberAnswers', 'QuorumHeld'],
    ['ClusterIDMismatch', isMismatch, 'DifferentClusters', 'OneCluster'],
  ];
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return rows.map(([type, holds, ifSo, ifNot]) => {
    const status = holds ? 'True' : 'False';
    const before = cluster.status?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
    return {
      type,
      status,
      reason: holds ? ifSo : ifNot,
      message: holds || type === 'Available' ? decision.reason : '',
      lastTransitionTime,
    };
  });
}
