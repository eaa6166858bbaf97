import { type FieldError, fieldError, isIpv4, isIpv6, labelErrors } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, list, record, records, text } from '../json.js';
import { badIpAddress, labelNameErrors, oneOf, qualifiedErrors, subdomainErrors } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { specialAddressErrors } from './special-addresses.js';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
/** In the order in which refusals list them. */
const protocols = ['SCTP', 'TCP', 'UDP'];
const limits = { endpoints: 1000, addresses: 100, ports: 100, topology: 16, hints: 8 } as const;

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
  validate: (slice) => [
    ...oneOf(slice.addressType, addressTypes, 'addressType'),
    ...atMost(records(slice.endpoints), limits.endpoints, 'endpoints', (endpoint, path) =>
      endpointErrors(endpoint, text(slice.addressType) ?? '', path),
    ),
    ...portErrors(records(slice.ports), 'ports'),
  ],
  validateUpdate: (slice, current) =>
    slice.addressType === current.addressType
      ? []
      : [fieldError.invalid('addressType', slice.addressType, 'field is immutable')],
};

/** The rules of each item, or, where there are too many, that there are. */
function atMost(
  items: readonly JsonRecord[],
  limit: number,
  path: string,
  problemsOf: (item: JsonRecord, path: string) => readonly FieldError[],
): readonly FieldError[] {
  if (items.length > limit) return [fieldError.tooMany(path, items.length, limit)];
  return items.flatMap((item, index) => problemsOf(item, `${path}[${index}]`));
}

function endpointErrors(endpoint: JsonRecord, type: string, path: string): readonly FieldError[] {
  const { hostname, nodeName, hints } = endpoint;
  const addresses = list(endpoint.addresses);
  const topology = record(endpoint.deprecatedTopology);
  const own = `${path}.addresses`;
  return [
    ...(addresses.length === 0 ? [fieldError.required(own, 'must contain at least 1 address')] : []),
    ...(addresses.length > limits.addresses ? [fieldError.tooMany(own, addresses.length, limits.addresses)] : []),
    ...addresses.flatMap((address, index) => addressErrors(text(address) ?? '', type, `${own}[${index}]`)),
    ...(nodeName === undefined ? [] : subdomainErrors(nodeName, `${path}.nodeName`)),
    ...(Object.keys(topology).length > limits.topology
      ? [fieldError.tooMany(`${path}.deprecatedTopology`, Object.keys(topology).length, limits.topology)]
      : []),
    ...labelErrors(topology, `${path}.deprecatedTopology`),
    ...(hostname === undefined ? [] : labelNameErrors(hostname, `${path}.hostname`)),
    ...(hints === undefined ? [] : hintErrors(record(hints), `${path}.hints`)),
  ];
}

function addressErrors(address: string, type: string, path: string): readonly FieldError[] {
  if (type === 'FQDN') return domainErrors(address, path);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const unreadable = badIpAddress(address, path);
  if (unreadable.length > 0) return unreadable;
  const isOfType = type === 'IPv4' ? isIpv4(address) : isIpv6(address);
  return [
    ...(isOfType ? [] : [fieldError.invalid(path, address, `must be an ${type} address`)]),
    ...specialAddressErrors(address, path),
  ];
}

/** Source: IsFullyQualifiedDomainName. */
function domainErrors(domain: string, path: string): readonly FieldError[] {
  if (domain === '') return [fieldError.required(path)];
  const name = domain.endsWith('.') ? domain.slice(0, -1) : domain;
  const badForm = subdomainErrors(name, path);
  if (badForm.length > 0) return badForm;
  const labels = name.split('.');
  if (labels.length < 2) {
    return [fieldError.invalid(path, name, 'should be a domain with at least two segments separated by dots')];
  }
  return labels.flatMap((label) => labelNameErrors(label, path));
}

/** For whom an endpoint is near. */
function hintErrors({ forZones, forNodes }: JsonRecord, path: string): readonly FieldError[] {
  const named = (items: unknown, field: string, problemsOf: typeof subdomainErrors) => {
    const names = records(items).map(({ name }) => text(name) ?? '');
    return atMost(records(items), limits.hints, `${path}.${field}`, (item, own) => {
      const name = text(item.name) ?? '';
      const isTwice = names.indexOf(name) < records(items).indexOf(item);
      return [...(isTwice ? [fieldError.duplicate(`${own}.name`, name)] : []), ...problemsOf(name, `${own}.name`)];
    });
  };
  return [...named(forZones, 'forZones', qualifiedErrors), ...named(forNodes, 'forNodes', subdomainErrors)];
}

function portErrors(ports: readonly JsonRecord[], path: string): readonly FieldError[] {
  const names = ports.map(({ name }) => text(name) ?? '');
  return atMost(ports, limits.ports, path, (port, own) => {
    const name = text(port.name) ?? '';
    const isTwice = names.indexOf(name) < ports.indexOf(port);
    return [
      ...(name === '' ? [] : labelNameErrors(name, `${own}.name`)),
      ...(isTwice ? [fieldError.duplicate(`${own}.name`, name)] : []),
      ...oneOf(port.protocol, protocols, `${own}.protocol`),
      ...(port.appProtocol === undefined ? [] : qualifiedErrors(port.appProtocol, `${own}.appProtocol`)),
    ];
  });
}
