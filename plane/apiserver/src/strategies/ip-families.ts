import { type FieldError, fieldError, invalidError, isIpAddress, isIpv6 } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { headless, type ServiceFields, serviceFields } from './service-fields.js';

const addressText = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/**
 * A service with its families and its policy about them, as kube-apiserver settles them before it allocates addresses.
 * This server allocates IPv4 alone. Fails with what is wrong about the fields that speak of families and addresses.
 */
export function withFamilies(service: ApiObject, current?: ApiObject): ApiObject {
  const fields = serviceFields(service);
  if (!fields.needsAddress) return service;
  const old = current === undefined ? undefined : serviceFields(current);
  const isPreferred = fields.ipFamilyPolicy === 'PreferDualStack' && old?.ipFamilyPolicy === 'PreferDualStack';
  if (isPreferred && isSame(fields.clusterIPs, old.clusterIPs) && isSame(fields.ipFamilies, old.ipFamilies)) {
    return service;
  }
  const isFree = fields.isHeadless && !fields.hasSelector;
  const policy = fields.ipFamilyPolicy ?? old?.ipFamilyPolicy ?? (isFree ? 'RequireDualStack' : 'SingleStack');
  const refuse = (errors: readonly FieldError[]) => {
    if (errors.length > 0) throw invalidError({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors);
  };
  refuse(familyErrors(fields));
  const isSingle = policy === 'SingleStack';
  const shortened = (own: readonly string[], before: readonly string[] = []) =>
    isSingle && own.length > 1 && isSame(own, before) ? own.slice(0, 1) : own;
  const clusterIPs = shortened(fields.clusterIPs, old?.clusterIPs);
  const sent = shortened(fields.ipFamilies, old?.ipFamilies);
  refuse([
    ...(isSingle || old === undefined ? [] : reducedErrors(fields, old, policy)),
    ...(isSingle ? singleErrors(clusterIPs, sent, policy) : []),
    ...clusterIPs
      .slice(sent.length)
      .flatMap((address, index) =>
        address === headless || !isIpv6(address)
          ? []
          : [
              fieldError.invalid(
                `spec.clusterIPs[${index + sent.length}]`,
                clusterIPs,
                'IPv6 is not configured on this cluster',
              ),
            ],
      ),
  ]);
  const inferred = clusterIPs.slice(sent.length).flatMap((address) => (address === headless ? [] : ['IPv4']));
  const known = [...sent, ...inferred];
  const own = known.length === 0 ? ['IPv4'] : known;
  if (isFree) {
    const other = own[0] === 'IPv4' ? 'IPv6' : 'IPv4';
    return withSpec(service, { clusterIPs, policy, ipFamilies: own.length < 2 && !isSingle ? [...own, other] : own });
  }
  refuse([
    ...(policy === 'RequireDualStack'
      ? [fieldError.invalid('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...own.flatMap((family, index) =>
      family === 'IPv4'
        ? []
        : [fieldError.invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ]);
  return withSpec(service, { clusterIPs, policy, ipFamilies: own });
}

function withSpec(
  service: ApiObject,
  settled: {
    readonly clusterIPs: readonly string[];
    readonly policy: string;
    readonly ipFamilies: readonly string[];
  },
): ApiObject {
  const { spec } = serviceFields(service);
  const { clusterIPs, policy, ipFamilies } = settled;
  return {
    ...service,
    spec: { ...spec, ...(clusterIPs.length === 0 ? {} : { clusterIPs }), ipFamilies, ipFamilyPolicy: policy },
  };
}

/** What is wrong with the addresses, the families and the policy of a service by themselves. */
export function familyErrors(fields: ServiceFields): readonly FieldError[] {
  if (!fields.needsAddress) return [];
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy: policy } = fields;
  const path = 'spec.clusterIPs';
  const errors: FieldError[] = [];
  if (clusterIP !== '' && clusterIPs.length === 0) errors.push(fieldError.required(path));
  else if (clusterIP !== '' && clusterIPs[0] !== clusterIP) {
    errors.push(fieldError.invalid(path, clusterIPs, 'first value must match `clusterIP`'));
  } else if (clusterIP === '' && clusterIPs.length > 0) {
    errors.push(fieldError.invalid(path, clusterIPs, 'must be empty when `clusterIP` is not specified'));
  }
  for (const [index, family] of ipFamilies.entries()) {
    const where = `spec.ipFamilies[${index}]`;
    if (!families.includes(family)) errors.push(fieldError.notSupported(where, family, families));
    if (ipFamilies.indexOf(family) < index) errors.push(fieldError.duplicate(where, family));
  }
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(fieldError.notSupported('spec.ipFamilyPolicy', policy, policies));
  }
  const isBad = (address: string, index: number) =>
    index === 0 && address === headless ? clusterIPs.length > 1 : !isIpAddress(address);
  for (const [index, address] of clusterIPs.entries()) {
    if (!isBad(address, index)) continue;
    errors.push(
      index === 0 && address === headless
        ? fieldError.invalid(path, clusterIPs, "'None' must be the first and only value")
        : fieldError.invalid(`${path}[${index}]`, address, addressText),
    );
  }
  if (clusterIPs.length > 2) errors.push(fieldError.invalid(path, clusterIPs, 'may only hold up to 2 values'));
  if (clusterIPs.some(isBad)) return errors;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(isIpv6)).size < 2) {
    errors.push(fieldError.invalid(path, clusterIPs, 'may specify no more than one IP for each IP family'));
  }
  for (const [index, address] of fields.isHeadless ? [] : clusterIPs.entries()) {
    const family = ipFamilies[index];
    if (family === undefined || family === (isIpv6(address) ? 'IPv6' : 'IPv4')) continue;
    const problem = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    errors.push(fieldError.invalid(`${path}[${index}]`, address, problem));
  }
  return errors;
}

function reducedErrors(fields: ServiceFields, old: ServiceFields, policy: string): readonly FieldError[] {
  const isReduced = (own: readonly string[], before: readonly string[]) =>
    own.length < before.length && own.length > 0 && own[0] === before[0];
  const problem = (what: string) =>
    fieldError.invalid('spec.ipFamilyPolicy', policy, `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(isReduced(fields.clusterIPs, old.clusterIPs) ? [problem('cluster IP')] : []),
    ...(isReduced(fields.ipFamilies, old.ipFamilies) ? [problem('IP family')] : []),
  ];
}

function singleErrors(
  clusterIPs: readonly string[],
  ipFamilies: readonly string[],
  policy: string,
): readonly FieldError[] {
  const problem = (what: string) =>
    fieldError.invalid(
      'spec.ipFamilyPolicy',
      policy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(clusterIPs.length === 2 ? [problem('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [problem('IP families')] : []),
  ];
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((each, index) => each === right[index]);
}
