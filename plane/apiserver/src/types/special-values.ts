import { formatQuantity, parseQuantity } from '@castellan/machinery';
import { type GoTime, goMicroTime, goTime } from './go-time.js';

/** What Go makes of a value of a type that is no plain object: the value as it is written back, or what is wrong. */
export type SpecialValue = { readonly value: unknown } | { readonly problem: string };

const quantityProblem = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Quantities have one way of writing each amount: `1000m` is `1`, and 0.5 is `500m`. */
function quantity(value: unknown): SpecialValue {
  if (typeof value !== 'string' && typeof value !== 'number') return { problem: quantityProblem };
  try {
    return { value: formatQuantity(parseQuantity(String(value))) };
  } catch {
    return { problem: quantityProblem };
  }
}

const base64Text = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?/;

function base64(value: unknown): SpecialValue {
  if (typeof value !== 'string') return { value };
  const bare = value.replace(/[\r\n]/g, '');
  const good = base64Text.exec(bare)?.[0].length ?? 0;
  return good === bare.length ? { value: bare } : { problem: `illegal base64 data at input byte ${good}` };
}

function time(value: unknown, read: (text: string) => GoTime): SpecialValue {
  if (typeof value === 'string') return read(value);
  // Nobody has said when.
  if (value === null) return { value };
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return { problem: `json: cannot unmarshal ${kind} into Go value of type string` };
}

/** The value of a type known by name, or of bytes; undefined for other types. */
export function specialValue(type: string, value: unknown): SpecialValue | undefined {
  if (type === 'Quantity') return quantity(value);
  if (type === 'Time') return time(value, goTime);
  if (type === 'MicroTime') return time(value, goMicroTime);
  return type === 'bytes' ? base64(value) : undefined;
}
