import { type ApiObject, at, record, text } from '../json.js';
import { withPodDefaults } from '../pods/defaults.js';
import { podErrors } from '../pods/pod-rules.js';
import { preparePod } from '../pods/prepare.js';
import { resizeErrors } from '../pods/resize-rules.js';
import { podStatusErrors, preparePodStatus } from '../pods/status-rules.js';
import { ephemeralUpdateErrors, podUpdateErrors } from '../pods/update-rules.js';
import { hostNameWarnings, podWarnings } from '../pods/warnings.js';
import type { Strategy } from '../registry/strategy.js';

const defaultGraceSeconds = 30;

export const podStrategy: Strategy = {
  withDefaults: withPodDefaults,

  prepareForCreate: preparePod,

  validate: podErrors,

  // Pods are updated by programs, which do not read warnings.
  warnings: (pod, current) =>
    current === undefined ? [...hostNameWarnings(pod, "the Pod's hostname"), ...podWarnings(pod, '')] : [],

  validateUpdate: podUpdateErrors,

  validatePart: (pod, current, subresource) => {
    if (subresource === 'ephemeralcontainers') return ephemeralUpdateErrors(pod, current);
    return subresource === 'resize' ? resizeErrors(pod, current) : [];
  },

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
