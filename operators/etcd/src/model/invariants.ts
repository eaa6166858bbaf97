import type { Invariant } from '@castellan/runtime';
import type { EtcdDesired, EtcdStep } from '../observation.js';
import { type EtcdState, hasQuorum, isMemberUp, quorumIn } from './state.js';

type Move = Parameters<Invariant<EtcdDesired, EtcdState, EtcdStep>['violation']>[0];

/** What must hold on every move, numbered and explained in SPEC.md. */
export const invariants: readonly Invariant<EtcdDesired, EtcdState, EtcdStep>[] = [
  { name: 'E1', violation: oneCluster },
  { name: 'E2', violation: quorumIsNeverTaken },
  { name: 'E3', violation: membersKeepTheirPods },
  { name: 'E4', violation: onePendingMember },
  { name: 'E5', violation: sealedBeforeCompany },
  { name: 'E6', violation: newOnlyBeforeTheLatch },
  { name: 'E7', violation: neverTooManyVoters },
  { name: 'E8', violation: noPodBeforeItsService },
  { name: 'E9', violation: promotionLeavesRoom },
];

function oneCluster({ after }: Move) {
  return after.clusters > 1 ? 'a second cluster has formed' : undefined;
}

/** A promotion is judged with the new voter up; E9 is about the room that is left for its failure. */
function quorumIsNeverTaken({ before, after, step }: Move) {
  if (step === undefined || !hasQuorum(before) || hasQuorum(after)) return undefined;
  const { up, voters, needed } = quorumIn(after);
  if (step.kind === 'promote' && up + 1 >= needed) return undefined;
  return `our step left ${up} of ${voters} voters up, quorum is ${needed}`;
}

function membersKeepTheirPods({ before, after, step }: Move) {
  if ((step?.kind !== 'deletePod' && step?.kind !== 'discardSeed') || after === before) return undefined;
  const slot = before.slots.find((other) => other.name === step.name);
  return slot !== undefined && isMemberUp(slot) ? `the pod of member ${step.name}, which is up, is deleted` : undefined;
}

function onePendingMember({ before, after, step }: Move) {
  if (step?.kind !== 'addLearner' || after === before) return undefined;
  const pending = after.slots.filter((slot) => slot.member !== 'none' && !slot.isStarted).length;
  return pending > 1 ? `${pending} members have never started` : undefined;
}

function sealedBeforeCompany({ before, after, step }: Move) {
  if (step?.kind !== 'addLearner' || after === before) return undefined;
  return after.slots.some((slot) => slot.isNew)
    ? 'a member is added while the seed could still start as new'
    : undefined;
}

function newOnlyBeforeTheLatch({ before, after, step }: Move) {
  if (step?.kind !== 'createSeed' || after === before) return undefined;
  const isFirst = !before.isLatched && before.slots.every((slot) => slot.member === 'none' || slot.name === step.name);
  return isFirst ? undefined : 'a pod is started with `new` although there was a cluster';
}

function neverTooManyVoters({ before, after, step, desired }: Move) {
  if (step?.kind !== 'promote') return undefined;
  const live = after.slots.filter((slot) => slot.member === 'voter' && slot.pod !== 'none').length;
  return live > Math.max(desired.size, quorumIn(before).voters) ? `${live} voters, ${desired.size} wanted` : undefined;
}

function noPodBeforeItsService({ before, step }: Move) {
  if (step?.kind !== 'createSeed' && step?.kind !== 'createPod') return undefined;
  return before.hasPeerService ? undefined : 'a pod is made whose DNS name cannot resolve';
}

/** From one voter to two etcd has no such room. A stale promotion may find that one more has failed meanwhile. */
function promotionLeavesRoom({ before, after, step, age }: Move) {
  if (step?.kind !== 'promote' || age > 0) return undefined;
  const { up, voters } = quorumIn(before);
  const { needed } = quorumIn(after);
  if (voters === 1 || up >= needed) return undefined;
  return `should ${step.name} fail, ${up} of ${voters + 1} voters would be up, quorum is ${needed}`;
}
