/**
 * An exact amount, such as of memory or CPU. The least that is told apart is 10⁻⁹; smaller parts are rounded up, away
 * from zero, and amounts beyond 2⁶³-1 are taken for that, as upstream (`resource.Quantity`).
 */
export interface Quantity {
  /** In units of 10⁻⁹. */
  readonly nano: bigint;
  /** The family of suffixes that it was written with and is printed with. */
  readonly format: QuantityFormat;
}

/** `1500m`, `2G` · `1Gi` · `2e3` */
export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const one = 10n ** 9n;
const largest = (2n ** 63n - 1n) * one;
const syntax = /^([+-]?)(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]?|[eE][+-]?\d+)$/;

/** @throws Error in the words of upstream. */
export function parseQuantity(text: string): Quantity {
  const [, sign, digits, suffix] = syntax.exec(text) ?? [];
  if (digits === undefined || suffix === undefined) {
    throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  const [whole = '', fraction = ''] = digits.split('.');
  const { format, factor, exponent } = readSuffix(suffix);
  const magnitude = scale(BigInt(`${whole}${fraction}`) * factor, exponent + 9 - fraction.length);
  return { nano: sign === '-' ? -magnitude : magnitude, format };
}

function readSuffix(suffix: string): { format: QuantityFormat; factor: bigint; exponent: number } {
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { format: 'binary', factor: 1024n ** BigInt(binary), exponent: 0 };
  const decimal = decimalSuffixes.indexOf(suffix);
  if (decimal >= 0) return { format: 'decimal', factor: 1n, exponent: 3 * (decimal - 3) };
  return { format: 'exponent', factor: 1n, exponent: Number(suffix.slice(1)) };
}

/** `value` × 10^`exponent`, rounded up and cut off at the largest amount. */
function scale(value: bigint, exponent: number): bigint {
  if (value === 0n) return 0n;
  // So far out the digits do not matter, and computing them would take for ever.
  if (exponent > 40) return largest;
  if (exponent >= 0) return least(value * 10n ** BigInt(exponent), largest);
  if (exponent < -10_000) return 1n;
  const divisor = 10n ** BigInt(-exponent);
  return least((value + divisor - 1n) / divisor, largest);
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** Below, at or above zero as `a` is less than, equal to or more than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}

/** The sum, printed as `a` is. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.format };
}

/** As a number, of bytes or cores: exact up to 2⁵³. */
export function quantityToNumber({ nano }: Quantity): number {
  return Number(nano / one) + Number(nano % one) / 1e9;
}

/** The canonical text: no fraction, and the greatest suffix that allows this. `1000m` is `1`, `1024Mi` is `1Gi`. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  const magnitude = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? '-' : '';
  if (format === 'binary' && magnitude >= 1024n * one) return `${sign}${formatBinary(magnitude)}`;
  const { mantissa, thousands } = divideOut(magnitude, 1000n, decimalSuffixes.length - 1);
  if (format !== 'exponent') return `${sign}${mantissa}${decimalSuffixes[thousands] ?? ''}`;
  const exponent = 3 * (thousands - 3);
  return exponent === 0 ? `${sign}${mantissa}` : `${sign}${mantissa}e${exponent}`;
}

function formatBinary(magnitude: bigint): string {
  const units = (magnitude + one - 1n) / one;
  const { mantissa, thousands } = divideOut(units, 1024n, binarySuffixes.length - 1);
  return `${mantissa}${binarySuffixes[thousands] ?? ''}`;
}

function divideOut(value: bigint, base: bigint, most: number): { mantissa: bigint; thousands: number } {
  let mantissa = value;
  let thousands = 0;
  while (thousands < most && mantissa % base === 0n) {
    mantissa /= base;
    thousands += 1;
  }
  return { mantissa, thousands };
}
