import { type FieldError, fieldError, isIpAddress } from '@castellan/machinery';
import { text } from '../json.js';

export function badIpAddress(value: unknown, path: string): readonly FieldError[] {
  const address = text(value) ?? '';
  if (isIpAddress(address)) return [];
  return [fieldError.invalid(path, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}
