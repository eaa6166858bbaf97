import { type FieldError, fieldError, isIpAddress } from '@castellan/machinery';

/**
 * Addresses that mean another machine on each machine are not where others
 * reach a service. Source: ValidateEndpointIP.
 */
export function specialAddressErrors(address: string, path: string): readonly FieldError[] {
  const invalid = (problem: string) => [fieldError.invalid(path, address, problem)];
  if (!isIpAddress(address)) return invalid('must be a valid IP address');
  if (address === '0.0.0.0' || /^[0:]+$/.test(address)) return invalid(`may not be unspecified (${address})`);
  if (address.startsWith('127.') || /^[0:]*:0*1$/.test(address)) {
    return invalid('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (address.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/i.test(address)) {
    return invalid('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (address.startsWith('224.0.0.') || /^ff[0-9a-f]?2:/i.test(address)) {
    return invalid('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return [];
}
