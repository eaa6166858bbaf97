import { isRecord } from '../json.js';

/**
 * An OpenAPI 2.0 document in protobuf, as kubectl up to 1.28 wants it.
 * Source: google/gnostic, openapiv2/OpenAPIv2.proto: the numbers below are its fields'.
 */
export function encodeDocument(document: unknown): Uint8Array {
  return bytesOf(message('Document', document));
}

/** How one member is written: its number, and what it is. */
type Member = readonly [number: number, shape: Shape];

type Shape =
  | 'text'
  | 'texts'
  | 'flag'
  | 'any'
  | 'anys'
  /** A message. */
  | `message ${string}`
  /** A list of messages. */
  | `messages ${string}`
  /** A message of `{name, value}` entries, in the field of that number. */
  | `map ${number} ${string}`
  /** A message within a message that says which of several it is: the numbers on the way down. */
  | `wrapped ${string} ${string}`;

const schemaMembers: Readonly<Record<string, Member>> = {
  $ref: [1, 'text'],
  format: [2, 'text'],
  title: [3, 'text'],
  description: [4, 'text'],
  default: [5, 'any'],
  pattern: [13, 'text'],
  uniqueItems: [16, 'flag'],
  required: [19, 'texts'],
  enum: [20, 'anys'],
  additionalProperties: [21, 'wrapped 1 Schema'],
  type: [22, 'wrapped 1 text'],
  items: [23, 'wrapped 1 Schema'],
  properties: [25, 'map 1 Schema'],
};

const messages: Readonly<Record<string, Readonly<Record<string, Member>>>> = {
  Document: {
    swagger: [1, 'text'],
    info: [2, 'message Info'],
    paths: [8, 'map 2 PathItem'],
    definitions: [9, 'map 1 Schema'],
  },
  Info: { title: [1, 'text'], version: [2, 'text'] },
  PathItem: {
    get: [2, 'message Operation'],
    put: [3, 'message Operation'],
    post: [4, 'message Operation'],
    delete: [5, 'message Operation'],
    options: [6, 'message Operation'],
    head: [7, 'message Operation'],
    patch: [8, 'message Operation'],
    parameters: [9, 'messages ParametersItem'],
  },
  Operation: {
    tags: [1, 'texts'],
    description: [3, 'text'],
    operationId: [5, 'text'],
    produces: [6, 'texts'],
    consumes: [7, 'texts'],
    parameters: [8, 'messages ParametersItem'],
    responses: [9, 'map 1 Response'],
    schemes: [10, 'texts'],
    'x-': [13, 'anys'],
  },
  BodyParameter: { name: [2, 'text'], in: [3, 'text'], required: [4, 'flag'], schema: [5, 'message Schema'] },
  QueryParameter: {
    required: [1, 'flag'],
    in: [2, 'text'],
    description: [3, 'text'],
    name: [4, 'text'],
    type: [6, 'text'],
    uniqueItems: [20, 'flag'],
  },
  PathParameter: {
    required: [1, 'flag'],
    in: [2, 'text'],
    description: [3, 'text'],
    name: [4, 'text'],
    type: [5, 'text'],
    uniqueItems: [19, 'flag'],
  },
  Response: { description: [1, 'text'], schema: [2, 'wrapped 1 Schema'] },
  Schema: { ...schemaMembers, 'x-': [31, 'anys'] },
};

/** A parameter's message is within others that say what kind it is. */
const parameterKinds: Readonly<Record<string, readonly [name: string, path: readonly number[]]>> = {
  body: ['BodyParameter', [1, 1]],
  query: ['QueryParameter', [1, 2, 3]],
  path: ['PathParameter', [1, 2, 4]],
};

/** Bytes not yet joined, so that nothing is copied at each level of nesting. */
interface Piece {
  readonly length: number;
  readonly parts: readonly (Uint8Array | Piece)[];
}

function message(name: string, value: unknown): Piece {
  if (!isRecord(value)) return join([]);
  if (name === 'ParametersItem') return parameter(value);
  const members = messages[name] ?? {};
  const parts: Piece[] = [];
  for (const [key, content] of Object.entries(value)) {
    const extension = key.startsWith('x-') ? members['x-'] : undefined;
    const member = Object.hasOwn(members, key) ? members[key] : undefined;
    if (extension !== undefined) parts.push(field(extension[0], named(key, anyOf(content))));
    else if (member !== undefined) parts.push(encoded(member, content));
  }
  return join(parts);
}

function parameter(value: Readonly<Record<string, unknown>>): Piece {
  const kind = typeof value.in === 'string' ? parameterKinds[value.in] : undefined;
  if (kind === undefined) return join([]);
  const [name, path] = kind;
  return path.reduceRight((inner, number) => field(number, inner), message(name, value));
}

function encoded([number, shape]: Member, value: unknown): Piece {
  const [word = '', first = '', second = ''] = shape.split(' ');
  switch (word) {
    case 'text':
      return field(number, text(value));
    case 'texts':
      return join(listOf(value).map((each) => field(number, text(each))));
    case 'flag':
      return value === true ? join([varint(number * 8), varint(1)]) : join([]);
    case 'any':
      return field(number, anyOf(value));
    case 'anys':
      return join(listOf(value).map((each) => field(number, anyOf(each))));
    case 'message':
      return field(number, message(first, value));
    case 'messages':
      return join(listOf(value).map((each) => field(number, message(first, each))));
    case 'map':
      return field(number, join(entriesOf(value).map(([key, each]) => entry(Number(first), key, second, each))));
    default:
      return field(number, wrapped(Number(first), second, value));
  }
}

function entry(number: number, key: string, name: string, value: unknown): Piece {
  // A response says first that it is no reference.
  const content = name === 'Response' ? field(1, message(name, value)) : message(name, value);
  return field(number, named(key, content));
}

function wrapped(number: number, name: string, value: unknown): Piece {
  if (name === 'text') return field(number, text(value));
  // `additionalProperties: true`
  if (typeof value === 'boolean') return join([varint(2 * 8), varint(value ? 1 : 0)]);
  return field(number, message(name, value));
}

function named(name: string, value: Piece): Piece {
  return join([field(1, text(name)), field(2, value)]);
}

/** Any value is YAML there, and JSON is YAML. */
function anyOf(value: unknown): Piece {
  return field(2, text(`${JSON.stringify(value)}\n`));
}

function text(value: unknown): Piece {
  return join([new TextEncoder().encode(String(value))]);
}

function field(number: number, content: Piece): Piece {
  return join([varint(number * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.from([...bytes, rest]);
}

function join(parts: readonly (Uint8Array | Piece)[]): Piece {
  return { length: parts.reduce((sum, part) => sum + part.length, 0), parts };
}

function bytesOf(whole: Piece): Uint8Array {
  const bytes = new Uint8Array(whole.length);
  let at = 0;
  const write = ({ parts }: Piece): void => {
    for (const part of parts) {
      if (part instanceof Uint8Array) {
        bytes.set(part, at);
        at += part.length;
      } else write(part);
    }
  };
  write(whole);
  return bytes;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(value) ? Object.entries(value) : [];
}
