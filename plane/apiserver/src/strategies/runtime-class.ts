import { fieldError, labelErrors } from '@castellan/machinery';
import { at, record, text } from '../json.js';
import { resourceErrors } from '../pods/resource-rules.js';
import { labelNameErrors } from '../pods/scalar-rules.js';
import { tolerationErrors } from '../pods/scheduling-rules.js';
import type { Strategy } from '../registry/strategy.js';

export const runtimeClassStrategy: Strategy = {
  validate: (runtime) => [
    ...((text(runtime.handler) ?? '') === ''
      ? [fieldError.required('handler')]
      : labelNameErrors(runtime.handler, 'handler')),
    ...resourceErrors({ limits: at(runtime, 'overhead', 'podFixed') }, 'overhead'),
    ...labelErrors(record(at(runtime, 'scheduling', 'nodeSelector')), 'scheduling.nodeSelector'),
    ...tolerationErrors(at(runtime, 'scheduling', 'tolerations'), 'scheduling.tolerations'),
  ],
  validateUpdate: (runtime, current) =>
    runtime.handler === current.handler
      ? []
      : [fieldError.invalid('handler', runtime.handler ?? null, 'field is immutable')],
};
