import { type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, records, text } from '../json.js';
import {
  badIpAddress,
  labelNameErrors,
  oneOf,
  portNumberErrors,
  qualifiedErrors,
  subdomainErrors,
} from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { specialAddressErrors } from './special-addresses.js';

/** In the order in which refusals list them. */
const protocols = ['SCTP', 'TCP', 'UDP'];

export const endpointsStrategy: Strategy = {
  withDefaults: (endpoints) =>
    endpoints.subsets === undefined
      ? endpoints
      : { ...endpoints, subsets: records(endpoints.subsets).map((subset) => withPorts(subset)) },
  validate: ({ subsets }) => records(subsets).flatMap((subset, index) => subsetErrors(subset, `subsets[${index}]`)),
};

function withPorts(subset: JsonRecord): JsonRecord {
  if (subset.ports === undefined) return subset;
  return { ...subset, ports: records(subset.ports).map((port) => ({ protocol: 'TCP', ...port })) };
}

function subsetErrors(subset: JsonRecord, path: string): readonly FieldError[] {
  const { addresses, notReadyAddresses } = subset;
  const ports = records(subset.ports);
  const isBare = records(addresses).length === 0 && records(notReadyAddresses).length === 0;
  return [
    ...(isBare ? [fieldError.required(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...records(addresses).flatMap((each, index) => addressErrors(each, `${path}.addresses[${index}]`)),
    ...records(notReadyAddresses).flatMap((each, index) => addressErrors(each, `${path}.notReadyAddresses[${index}]`)),
    ...ports.flatMap((port, index) => portErrors(port, `${path}.ports[${index}]`, ports.length > 1)),
  ];
}

function addressErrors({ ip, hostname, nodeName }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...badIpAddress(ip, `${path}.ip`),
    ...((text(hostname) ?? '') === '' ? [] : labelNameErrors(hostname, `${path}.hostname`)),
    ...(nodeName === undefined ? [] : subdomainErrors(nodeName, `${path}.nodeName`)),
    ...specialAddressErrors(text(ip) ?? '', `${path}.ip`),
  ];
}

function portErrors(port: JsonRecord, path: string, isOneOfMany: boolean): readonly FieldError[] {
  const name = text(port.name) ?? '';
  const { appProtocol } = port;
  return [
    ...(name === ''
      ? isOneOfMany
        ? [fieldError.required(`${path}.name`)]
        : []
      : labelNameErrors(name, `${path}.name`)),
    ...portNumberErrors(port.port ?? 0, `${path}.port`),
    ...oneOf(port.protocol, protocols, `${path}.protocol`),
    ...(appProtocol === undefined ? [] : qualifiedErrors(appProtocol, `${path}.appProtocol`)),
  ];
}
