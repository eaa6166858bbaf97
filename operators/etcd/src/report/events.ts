import type { Pod } from '@castellan/machinery';
import type { Decision, EventNote } from '@castellan/runtime';
import type { EtcdCluster, EtcdClusterStatus } from '../api/etcd-cluster.js';
import { targetVersionOf } from '../desired.js';
import { versionAnnotation } from '../names.js';
import type { EtcdStep } from '../observation.js';
import { sayStep } from './say-step.js';

/** The step that was done. Waits make no events. */
export function stepEvents(decision: Decision<EtcdStep>): readonly EventNote[] {
  if (decision.kind !== 'step') return [];
  const said = sayStep(decision.step);
  const message = `${capitalize(said)}: ${decision.reason}`;
  return [{ type: 'Normal', reason: reasonOf(decision.step), message }];
}

export interface WarningsInput {
  /** As it was before this pass. */
  readonly cluster: EtcdCluster;
  /** As it is now. */
  readonly status: EtcdClusterStatus;
  readonly pods: readonly Pod[];
}

/** What has become worth a warning since the status was last written; that it is blocked is told anyway. */
export function warningsOf(input: WarningsInput): readonly EventNote[] {
  return [evenSize(input), otherVersion(input)].filter((event) => event !== undefined);
}

/** Where the operator of seed 000 had a reason for it, that one. */
function reasonOf(step: EtcdStep): string {
  switch (step.kind) {
    case 'createPeerService':
    case 'createClientService':
      return 'ServiceCreated';
    case 'createSeed':
      return 'SeedCreated';
    case 'discardSeed':
      return 'SeedDiscarded';
    case 'latchCluster':
      return 'ClusterFormed';
    case 'sealSeed':
      return 'SeedSealed';
    case 'addLearner':
      return 'LearnerAdded';
    case 'createPod':
      return 'PodCreated';
    case 'promote':
      return 'New Member Added';
    case 'moveLeader':
      return 'LeaderMoved';
    case 'removeMember':
      return step.isReplaced ? 'Replacing Dead Member' : 'Member Removed';
    case 'deletePod':
      return 'PodDeleted';
  }
}

function evenSize({ cluster }: WarningsInput): EventNote | undefined {
  const { size } = cluster.spec;
  if (size % 2 !== 0 || cluster.status?.observedGeneration === cluster.metadata.generation) return undefined;
  const message = `${size} members survive no more failures than ${size - 1} do; an odd size is the better one`;
  return { type: 'Warning', reason: 'EvenSize', message };
}

/** Never silently: what runs is not what was asked for. */
function otherVersion({ cluster, status, pods }: WarningsInput): EventNote | undefined {
  const target = targetVersionOf(cluster);
  const { currentVersion } = status;
  if (currentVersion === undefined || currentVersion === target) return undefined;
  const before = cluster.status;
  if (before?.currentVersion === currentVersion && before.targetVersion === target) return undefined;
  const madeFor = pods.find(({ metadata }) => metadata.annotations?.[versionAnnotation] !== target);
  const message =
    madeFor === undefined
      ? `etcd ${currentVersion} runs where ${target} was asked for: the image for ${target} gives that version`
      : `etcd ${currentVersion} keeps running: members are not upgraded yet, only new ones get ${target}`;
  return { type: 'Warning', reason: madeFor === undefined ? 'VersionSubstituted' : 'VersionNotApplied', message };
}

function capitalize(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
