import { CelEvaluationError } from './cel-error.js';
import { type CelValue, isCelList, isCelMap, typeNameOf } from './value.js';

/** `'%s has %d'.format(['a', 2])`. @throws CelEvaluationError for a clause that does not fit its value. */
export function formatText(text: string, values: readonly CelValue[]): string {
  let next = 0;
  return text.replace(/%(?:\.(\d+))?([\s\S]?)/g, (_, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    const value = values[next];
    if (value === undefined) throw new CelEvaluationError(`index ${next} out of range`);
    next += 1;
    return clause(verb, value, precision === undefined ? undefined : Math.min(Number(precision), 100));
  });
}

function clause(verb: string, value: CelValue, precision: number | undefined): string {
  switch (verb) {
    case 's':
      return shown(value);
    case 'd':
      if (typeof value === 'bigint') return value.toString();
      break;
    case 'f':
      if (isNumber(value)) return Number(value).toFixed(precision ?? 6);
      break;
    case 'e':
      if (isNumber(value))
        return Number(value)
          .toExponential(precision ?? 6)
          .replace(/e([+-])(\d)$/, 'e$10$2');
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (typeof value === 'bigint') return value.toString(2);
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    case 'x':
    case 'X': {
      const text = hex(value);
      if (text !== undefined) return verb === 'x' ? text : text.toUpperCase();
      break;
    }
    default:
      throw new CelEvaluationError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
  throw new CelEvaluationError(
    `error during formatting: ${verb} clause cannot format a value of type ${typeNameOf(value)}`,
  );
}

function hex(value: CelValue): string | undefined {
  if (typeof value === 'bigint') return value.toString(16);
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return undefined;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function isNumber(value: CelValue): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

function shown(value: CelValue): string {
  if (isCelList(value)) return `[${value.map(shown).join(', ')}]`;
  if (isCelMap(value)) {
    const entries = value.keys().map((key) => `${shown(key)}: ${shown(value.get(key) ?? null)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
}
