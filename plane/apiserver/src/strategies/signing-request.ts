import { deepEqual, fieldError } from '@castellan/machinery';
import { list, record, text, without } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

export const signingRequestStrategy: Strategy = {
  // Who asks is known to the server: it is not the client's to say.
  prepareForCreate: (request, { user }) => ({
    ...request,
    spec: {
      ...without(record(request.spec), 'extra', 'groups', 'uid'),
      username: user.name,
      ...(user.groups.length === 0 ? {} : { groups: user.groups }),
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      ...(user.extra === undefined ? {} : { extra: user.extra }),
    },
    status: {},
  }),
  prepareForUpdate: (request, current) => ({ ...request, spec: current.spec }),
  validate: (request) => {
    const spec = record(request.spec);
    return [
      ...((text(spec.request) ?? '') === '' ? [fieldError.required('spec.request')] : []),
      ...(list(spec.usages).length === 0 ? [fieldError.required('spec.usages')] : []),
      ...((text(spec.signerName) ?? '') === '' ? [fieldError.required('spec.signerName')] : []),
    ];
  },
  validateUpdate: (request, current) =>
    deepEqual(request.spec, current.spec) ? [] : [fieldError.invalid('spec', request.spec, 'field is immutable')],
};
