import { type ApiObject, at, record, text } from '../json.js';
import { podStatusErrors, preparePodStatus } from '../pods/status-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { qosClassOf, withPodDefaults } from './pod-defaults.js';
import { validatePod, validatePodUpdate } from './pod-validation.js';

const defaultGraceSeconds = 30;

export const podStrategy: Strategy = {
  withDefaults: withPodDefaults,

  prepareForCreate: (pod) => ({ ...pod, status: { phase: 'Pending', qosClass: qosClassOf(pod) } }),

  validate: validatePod,

  validateUpdate: validatePodUpdate,

  prepareForStatus: preparePodStatus,

  validateStatus: podStatusErrors,

  gracePeriodSeconds: (pod, requested) => {
    // Nothing runs: nothing is to be waited for.
    if ((text(at(pod, 'spec', 'nodeName')) ?? '') === '') return 0;
    if (isFinished(pod)) return 0;
    const own = at(pod, 'spec', 'terminationGracePeriodSeconds');
    const seconds = requested ?? (typeof own === 'number' ? own : defaultGraceSeconds);
    return seconds < 0 ? 1 : seconds;
  },
};

function isFinished(pod: ApiObject): boolean {
  const { phase } = record(pod.status);
  return phase === 'Succeeded' || phase === 'Failed';
}
