import { CelEvaluationError } from './cel-error.js';
import type { FunctionTable } from './function-table.js';
import { checkedInt } from './operators.js';
import { CelDuration, CelTimestamp } from './time.js';
import { CelType, CelUint, type CelValue, isCelList, isCelMap, typeNameOf } from './value.js';

/** The functions of the language itself; most of their forms are known to the parser. */
export const standardFunctions: FunctionTable = {
  size: { run: ([first], target) => sizeOf(target ?? first) },
  type: { run: ([value]) => (value === undefined ? undefined : new CelType(typeNameOf(value))) },
  dyn: { run: ([value]) => value },
  string: {
    signatures: ['string(google.protobuf.Duration): string', 'string(google.protobuf.Timestamp): string'],
    run: ([value]) => (value === undefined ? undefined : toText(value)),
  },
  int: {
    signatures: ['int(google.protobuf.Timestamp): int'],
    run: ([value]) => (value === undefined ? undefined : toInt(value)),
  },
  uint: {
    run: ([value]) => {
      const number = value === undefined ? undefined : toInt(value);
      if (number !== undefined && number < 0n) throw new CelEvaluationError('unsigned integer overflow');
      return number === undefined ? undefined : new CelUint(number);
    },
  },
  double: {
    run: ([value]) => {
      if (typeof value === 'bigint' || typeof value === 'number') return Number(value);
      if (value instanceof CelUint) return Number(value.value);
      if (typeof value !== 'string') return undefined;
      const number = Number(value);
      if (value.trim() === '' || Number.isNaN(number)) {
        throw new CelEvaluationError(`strconv.ParseFloat: parsing ${JSON.stringify(value)}: invalid syntax`);
      }
      return number;
    },
  },
  bool: {
    run: ([value]) => {
      if (typeof value === 'boolean') return value;
      if (typeof value !== 'string') return undefined;
      if (['true', 'TRUE', 'True', 't', '1'].includes(value)) return true;
      if (['false', 'FALSE', 'False', 'f', '0'].includes(value)) return false;
      throw new CelEvaluationError(`strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`);
    },
  },
  bytes: {
    run: ([value]) => {
      if (value instanceof Uint8Array) return value;
      return typeof value === 'string' ? new TextEncoder().encode(value) : undefined;
    },
  },
  startsWith: { run: ([prefix], text) => onTexts(text, prefix, (whole, part) => whole.startsWith(part)) },
  endsWith: { run: ([suffix], text) => onTexts(text, suffix, (whole, part) => whole.endsWith(part)) },
  contains: { run: ([part], text) => onTexts(text, part, (whole, wanted) => whole.includes(wanted)) },
};

/** Applies `run` where both are texts. */
function onTexts<T>(
  left: CelValue | undefined,
  right: CelValue | undefined,
  run: (left: string, right: string) => T,
): T | undefined {
  return typeof left === 'string' && typeof right === 'string' ? run(left, right) : undefined;
}

function sizeOf(value: CelValue | undefined): bigint | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return BigInt([...value].length);
  if (isCelList(value) || value instanceof Uint8Array) return BigInt(value.length);
  return isCelMap(value) ? BigInt(value.size) : undefined;
}

function toText(value: CelValue): string | undefined {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof CelUint) return value.value.toString();
  if (value instanceof CelDuration || value instanceof CelTimestamp) return value.toString();
  if (typeof value === 'object') return undefined;
  return String(value);
}

function toInt(value: CelValue): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return checkedInt(value.value);
  if (value instanceof CelTimestamp) return value.nanos / 1_000_000_000n;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CelEvaluationError('integer overflow');
    return checkedInt(BigInt(Math.trunc(value)));
  }
  if (typeof value !== 'string') return undefined;
  if (!/^[+-]?\d+$/.test(value) || value.length > 30) {
    throw new CelEvaluationError(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  return checkedInt(BigInt(value.replace('+', '')));
}
