import { deepEqual, type FieldError, fieldError, isIpAddress, isIpv4 } from '@castellan/machinery';
import { type ApiObject, at, list, record, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { cidrText, parseCidr } from './cidr.js';

/** An address that something in the cluster has: its name is the address. */
export const ipAddressStrategy: Strategy = {
  nameProblems: (name) => (isIpAddress(name) ? [] : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']),
  validate: (address): readonly FieldError[] => {
    const parent = at(address, 'spec', 'parentRef');
    if (parent === undefined) return [fieldError.required('spec.parentRef')];
    const { resource, name } = record(parent);
    return [
      ...((text(resource) ?? '') === '' ? [fieldError.required('spec.parentRef.resource')] : []),
      ...((text(name) ?? '') === '' ? [fieldError.required('spec.parentRef.name')] : []),
    ];
  },
  validateUpdate: (address, current) => {
    const [parent, old] = [at(address, 'spec', 'parentRef'), at(current, 'spec', 'parentRef')];
    return deepEqual(parent, old) ? [] : [fieldError.invalid('spec.parentRef', parent ?? null, 'field is immutable')];
  },
};

/** A range that services may have addresses of. This server allocates of its own range alone. */
export const serviceCidrStrategy: Strategy = {
  prepareForCreate: (range) => ({ ...range, status: {} }),
  validate: rangeErrors,
  validateUpdate: (range, current) => {
    const [ranges, old] = [at(range, 'spec', 'cidrs'), at(current, 'spec', 'cidrs')];
    return deepEqual(ranges, old) ? [] : [fieldError.invalid('spec.cidrs', ranges ?? null, 'field is immutable')];
  },
};

function rangeErrors(range: ApiObject): readonly FieldError[] {
  const ranges = list(at(range, 'spec', 'cidrs')).map(String);
  const isFour = ranges.map((each) => isIpv4(each.split('/')[0] ?? ''));
  return [
    ...(ranges.length === 0 ? [fieldError.required('spec.cidrs', 'at least one CIDR required')] : []),
    ...(ranges.length > 2 ? [fieldError.invalid('spec', record(range.spec), 'may only hold up to 2 values')] : []),
    ...(ranges.length === 2 && isFour[0] === isFour[1]
      ? [
          fieldError.invalid(
            'spec',
            record(range.spec),
            'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
          ),
        ]
      : []),
    ...ranges.flatMap((each, index) => {
      const block = parseCidr(each);
      const path = `spec.cidrs[${index}]`;
      if (block === undefined) return [fieldError.invalid(path, each, cidrText)];
      return block.hasHostBits
        ? [fieldError.invalid(path, each, 'must not have bits set beyond the prefix length')]
        : [];
    }),
  ];
}
