import {
  deepEqual,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
} from '@castellan/machinery';
import { count, list, record, text, without } from '../json.js';
import { oneOfOrUnset } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';

const shortestSeconds = 600;
/** A signer of before signers had names. */
const legacySigner = 'kubernetes.io/legacy-unknown';

/** What a certificate can be for, in the order of the alphabet. */
const knownUsages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

export const signingRequestStrategy: Strategy = {
  nameProblems: () => [],
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
    const seconds = count(spec.expirationSeconds);
    const tooSoon = `may not specify a duration less than ${shortestSeconds} seconds (10 minutes)`;
    return [
      ...(isRequestText(spec.request)
        ? []
        : [fieldError.invalid('spec.request', spec.request ?? null, 'PEM block type must be CERTIFICATE REQUEST')]),
      ...usageErrors(list(spec.usages), 'spec.usages'),
      ...signerNameErrors(text(spec.signerName) ?? ''),
      ...(seconds !== undefined && seconds < shortestSeconds
        ? [fieldError.invalid('spec.expirationSeconds', seconds, tooSoon)]
        : []),
    ];
  },
  validateUpdate: (request, current) =>
    deepEqual(request.spec, current.spec) ? [] : [fieldError.invalid('spec', request.spec, 'field is immutable')],
};

/** A request in PEM, within base64. Whether it is signed well is for its signer to see. */
function isRequestText(request: unknown): boolean {
  const pem = Buffer.from(text(request) ?? '', 'base64').toString('latin1');
  const start = pem.indexOf('-----BEGIN CERTIFICATE REQUEST-----');
  return start >= 0 && pem.indexOf('-----END CERTIFICATE REQUEST-----', start) > start;
}

function usageErrors(usages: readonly unknown[], path: string): readonly FieldError[] {
  if (usages.length === 0) return [fieldError.required(path)];
  return [
    ...usages.flatMap((usage, index) => oneOfOrUnset(usage, knownUsages, `${path}[${index}]`)),
    ...usages.flatMap((usage, index) =>
      usages.indexOf(usage) < index ? [fieldError.duplicate(`${path}[${index}]`, usage)] : [],
    ),
  ];
}

/** A domain and a path: `example.com/signer-name`. Source: ValidateSignerName. */
function signerNameErrors(name: string): readonly FieldError[] {
  const path = 'spec.signerName';
  if (name === '') return [fieldError.required(path)];
  if (name === legacySigner) {
    return [fieldError.invalid(path, name, 'the legacy signerName is not allowed via this API version')];
  }
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
