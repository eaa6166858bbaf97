import { ShownValue } from '@castellan/machinery';
import { isRecord, type JsonRecord, record } from '../json.js';
import { goTypes } from './go-types.js';

/**
 * Some refusals of kube-apiserver show a part of a pod as its program holds it: by the names that fields have in Go, in
 * the order of the structure, and with all that is not set.
 */
export function printed(type: string, value: JsonRecord): ShownValue {
  return new ShownValue(goValue(type, value));
}

/** The same on lines of their own, indented by one space each. */
export function printedLines(type: string, value: JsonRecord): readonly string[] {
  return JSON.stringify(goValue(type, value), null, 1).split('\n');
}

/** A pod template, whose metadata has no name of its own in Go. */
export function printedTemplate(template: JsonRecord): ShownValue {
  const metadata = record(template.metadata);
  return new ShownValue({ ...metadata, Spec: goValue('PodSpec', podSpecInGo(record(template.spec))) });
}

/** What the API has beside the security context, Go has in it. */
const inSecurityContext = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

export function podSpecInGo(spec: JsonRecord): JsonRecord {
  const moved = Object.fromEntries(inSecurityContext.map((field) => [field, spec[field]]));
  const isSet = spec.securityContext !== undefined || Object.values(moved).some((value) => value !== undefined);
  return isSet ? { ...spec, securityContext: { ...moved, ...record(spec.securityContext) } } : spec;
}

interface GoField {
  readonly name: string;
  readonly jsonName: string;
  /** The structure that it holds, if that is known here. */
  readonly type: string | undefined;
  /** What it shows when it is not set. */
  readonly zero: unknown;
}

function goValue(type: string, value: JsonRecord): JsonRecord {
  const shown: Record<string, unknown> = {};
  for (const field of fieldsOf(type)) {
    const own = value[field.jsonName];
    if (own === undefined || own === null) shown[field.name] = field.zero;
    else shown[field.name] = field.type === undefined ? sorted(own) : structured(field.type, own);
  }
  return shown;
}

function structured(type: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => structured(type, item));
  return isRecord(value) ? goValue(type, value) : value;
}

/** Go writes maps in the order of their keys. */
function sorted(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

const parsed = new Map<string, readonly GoField[]>();

function fieldsOf(type: string): readonly GoField[] {
  const known = parsed.get(type);
  if (known !== undefined) return known;
  const row = Object.hasOwn(goTypes, type) ? (goTypes[type] ?? '') : '';
  const fields = row.split(' ').map(parseField);
  parsed.set(type, fields);
  return fields;
}

const zeros: Readonly<Record<string, unknown>> = { "'": '', '#': 0, '~': false, '0': '0' };

function parseField(text: string): GoField {
  const [, name = '', mark = '', type, given] = /^(\w+?)(['#~]|@0|=)?(?::(\w+))?(?:\/(\w+))?$/.exec(text) ?? [];
  const zero = mark === '=' && type !== undefined ? goValue(type, {}) : (zeros[mark.replace('@', '')] ?? null);
  return { name, jsonName: given ?? jsonNameOf(name), type, zero };
}

/** `DNSPolicy` is `dnsPolicy`: of the capitals in front, the last begins a word. */
function jsonNameOf(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+/, (capitals) => capitals.toLowerCase());
}
