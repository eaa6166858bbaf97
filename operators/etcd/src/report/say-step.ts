import type { EtcdStep } from '../observation.js';

/** A step as an order to be carried out, for plans, events and traces. */
export function sayStep(step: EtcdStep): string {
  switch (step.kind) {
    case 'createPeerService':
      return 'create the headless service for the members';
    case 'createClientService':
      return 'create the service for clients';
    case 'createSeed':
      return `create the seed ${step.name}`;
    case 'discardSeed':
      return `discard the seed ${step.name}`;
    case 'latchCluster':
      return 'record the ID of the cluster';
    case 'sealSeed':
      return `seal the seed ${step.name}: from now on it starts as existing`;
    case 'addLearner':
      return `add ${step.name} to the members as a learner`;
    case 'createPod':
      return `create the pod of ${step.name}`;
    case 'promote':
      return `promote ${step.name} to a voter`;
    case 'moveLeader':
      return `move the leadership from ${step.from} to ${step.name}`;
    case 'removeMember':
      return `remove ${step.name} from the members`;
    case 'deletePod':
      return `delete the pod ${step.name}`;
  }
}
