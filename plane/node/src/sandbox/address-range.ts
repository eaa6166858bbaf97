/** An IPv4 range, as numbers. */
export interface AddressRange {
  readonly base: number;
  readonly prefixLength: number;
}

/** `10.244.0.0/24`; an address without a prefix length is a range of one. */
export function parseRange(text: string): AddressRange {
  const [address = '', length = '32'] = text.split('/');
  const octets = address.split('.').map(Number);
  const prefixLength = Number(length);
  const isValid =
    octets.length === 4 &&
    octets.every((octet) => Number.isInteger(octet) && octet >= 0 && octet <= 255) &&
    Number.isInteger(prefixLength) &&
    prefixLength >= 0 &&
    prefixLength <= 32;
  if (!isValid) throw new Error(`"${text}" is not an IPv4 range; next: write it as 10.244.0.0/24`);
  const number = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  const size = 2 ** (32 - prefixLength);
  return { base: Math.floor(number / size) * size, prefixLength };
}

export function formatRange(range: AddressRange): string {
  return `${addressAt(range, 0)}/${range.prefixLength}`;
}

/** The `index`th address of a range, counted from its base. */
export function addressAt(range: AddressRange, index: number): string {
  const number = range.base + index;
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

export function rangeSize(range: AddressRange): number {
  return 2 ** (32 - range.prefixLength);
}

export function rangesOverlap(a: AddressRange, b: AddressRange): boolean {
  return a.base < b.base + rangeSize(b) && b.base < a.base + rangeSize(a);
}

/** The range `step` places further, of the same size. */
export function rangeAfter(range: AddressRange, step: number): AddressRange {
  return { base: range.base + step * rangeSize(range), prefixLength: range.prefixLength };
}

export function isInRange(address: string, range: AddressRange): boolean {
  return rangesOverlap(parseRange(address), range);
}

/**
 * The hardware address of who has this address. Whoever spoke with an earlier pod of the address remembers for half a minute
 * where that was, and would find nobody there. The first two bytes are those that CNI's bridge plugin uses.
 */
export function hardwareAddressOf(address: string): string {
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return ['0a', '58', ...bytes].join(':');
}
