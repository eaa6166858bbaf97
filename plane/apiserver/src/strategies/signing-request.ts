import {
  deepEqual,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
} from '@castellan/machinery';
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
      ...signerNameErrors(text(spec.signerName) ?? ''),
    ];
  },
  validateUpdate: (request, current) =>
    deepEqual(request.spec, current.spec) ? [] : [fieldError.invalid('spec', request.spec, 'field is immutable')],
};

/** A domain and a path: `example.com/signer-name`. Source: ValidateSignerName. */
function signerNameErrors(name: string): readonly FieldError[] {
  const path = 'spec.signerName';
  if (name === '') return [fieldError.required(path)];
  const [domain = '', rest = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldError.invalid(path, name, form)];
  }
  const labelProblems = (shown: string, problemsOf: (label: string) => readonly string[]) => {
    const wrong = shown.split('.').find((label) => problemsOf(label).length > 0);
    if (wrong === undefined) return [];
    return problemsOf(wrong).map((problem) => `validating label ${JSON.stringify(wrong)}: ${problem}`);
  };
  const problems = [
    ...labelProblems(domain, dns1123LabelErrors),
    ...(domain.includes('.') ? [] : ['should be a domain with at least two segments separated by dots']),
  ];
  return [
    ...problems.map((problem) => fieldError.invalid(path, domain, problem)),
    ...labelProblems(rest, dns1123SubdomainErrors).map((problem) => fieldError.invalid(path, rest, problem)),
  ];
}
