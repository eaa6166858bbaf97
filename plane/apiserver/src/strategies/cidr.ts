import { isIpv4, isIpv6 } from '@castellan/machinery';

export const cidrText = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** A range of addresses. */
export interface Block {
  readonly bits: string;
  readonly length: number;
  /** Whether the address says more than the range: `10.9.8.7/24`. */
  readonly hasHostBits: boolean;
}

/** `10.9.8.0/24` or `2001:db8::/64`; undefined for anything else. */
export function parseCidr(range: string): Block | undefined {
  const [address = '', length = '', ...rest] = range.split('/');
  const isFour = isIpv4(address);
  if (rest.length > 0 || !/^\d{1,3}$/.test(length) || !(isFour || isIpv6(address))) return undefined;
  if (Number(length) > (isFour ? 32 : 128)) return undefined;
  const bits = isFour ? groupBits(address.split('.').map(Number), 8) : groupBits(ipv6Groups(address), 16);
  const size = Number(length);
  return { bits: `${isFour ? 4 : 6}${bits.slice(0, size)}`, length: size, hasHostBits: bits.slice(size).includes('1') };
}

function groupBits(groups: readonly number[], width: number): string {
  return groups.map((group) => group.toString(2).padStart(width, '0')).join('');
}

function ipv6Groups(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return numbers(head);
  const [before, after] = [numbers(head), numbers(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

export function isStrictSubset(inner: Block, outer: Block): boolean {
  return inner.length > outer.length && inner.bits.startsWith(outer.bits);
}
