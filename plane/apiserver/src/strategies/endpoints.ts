import { type FieldError, fieldError, isIpAddress } from '@castellan/machinery';
import { type ApiObject, list, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

export const endpointsStrategy: Strategy = {
  withDefaults: (endpoints) =>
    endpoints.subsets === undefined
      ? endpoints
      : { ...endpoints, subsets: records(endpoints.subsets).map((subset) => withPorts(subset)) },
};

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const addressText = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

export const endpointSliceStrategy: Strategy = {
  withDefaults: (slice): ApiObject => ({
    ...slice,
    ...(slice.endpoints === undefined
      ? {}
      : { endpoints: records(slice.endpoints).map((endpoint) => ({ conditions: {}, ...endpoint })) }),
    ...(slice.ports === undefined
      ? {}
      : { ports: records(slice.ports).map((port) => ({ name: '', protocol: 'TCP', ...port })) }),
  }),
  validate: (slice) => {
    const type = text(slice.addressType) ?? '';
    const names = records(slice.ports).map(({ name }) => text(name) ?? '');
    return [
      ...(type === '' ? [fieldError.required('addressType')] : []),
      ...(type === '' || addressTypes.includes(type)
        ? []
        : [fieldError.notSupported('addressType', type, addressTypes)]),
      ...records(slice.endpoints).flatMap(({ addresses }, index) => addressErrors(list(addresses), type, index)),
      ...names.flatMap((name, index) =>
        names.indexOf(name) < index ? [fieldError.duplicate(`ports[${index}].name`, name)] : [],
      ),
    ];
  },
  validateUpdate: (slice, current) =>
    slice.addressType === current.addressType
      ? []
      : [fieldError.invalid('addressType', slice.addressType, 'field is immutable')],
};

function addressErrors(addresses: readonly unknown[], type: string, index: number): readonly FieldError[] {
  const path = `endpoints[${index}].addresses`;
  if (addresses.length === 0) return [fieldError.required(path, 'must contain at least 1 address')];
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  return addresses.flatMap((address, position) =>
    isIpAddress(String(address)) ? [] : [fieldError.invalid(`${path}[${position}]`, address, addressText)],
  );
}

function withPorts(subset: Readonly<Record<string, unknown>>) {
  if (subset.ports === undefined) return subset;
  return { ...subset, ports: records(subset.ports).map((port) => ({ protocol: 'TCP', ...port })) };
}
