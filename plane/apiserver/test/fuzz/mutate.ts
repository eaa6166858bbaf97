import type { SeededRandom } from './seeded-random.js';
import type { FuzzRequest } from './valid-requests.js';

/** Values that are found where programmers did not think of them. */
const oddValues: readonly unknown[] = [
  null,
  true,
  '',
  'x',
  ' ',
  '\u0000',
  'é😀',
  '../..',
  '__proto__',
  'constructor',
  '-1',
  '9'.repeat(30),
  'a'.repeat(300),
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  [],
  [null],
  [[]],
  [{}],
  ['a', 'a'],
  {},
  { a: null },
  { '': {} },
  { name: {} },
  { matchLabels: null },
  '2020-01-01T00:00:00Z',
  '100m',
  '50%',
  '1e99999',
  '%',
  'self.a.b[0] == "',
  '^(a+)+$',
  '[',
  '$ref',
];
const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'metadata',
  'spec',
  'status',
  '$patch',
  '$setElementOrder/containers',
  '$retainKeys',
  '$deleteFromPrimitiveList/finalizers',
  'items',
  'length',
];
const oddSegments = [
  '',
  '.',
  '..',
  '%00',
  '%2F',
  '%ff',
  '%',
  '__proto__',
  'status',
  'scale',
  'log',
  'exec',
  'proxy',
  'default',
  'v1',
  'a'.repeat(300),
  'watch',
  'namespaces',
];
const queryNames = [
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'watch',
  'timeoutSeconds',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'pretty',
  'includeObject',
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'container',
  'tailLines',
  'sinceTime',
];
const queryValues = [
  '',
  '0',
  '1',
  '-1',
  '1e9',
  'true',
  'All',
  'Strict',
  'Exact',
  'NotOlderThan',
  'x',
  'a=b',
  'a in (',
  '!a',
  'metadata.name=seed',
  '%00',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ',
  '18446744073709551616',
  'Object',
];
const contentTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
  '',
  ';;',
  'application/json; charset=utf-16',
];
const accepts = [
  '*/*',
  'application/yaml',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf',
  ',;q=',
  'application/cbor',
];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'get'];
const tokens = [
  'null',
  '{}',
  '[]',
  '"',
  '{',
  '[',
  ',',
  ':',
  '-',
  '1e400',
  '9007199254740993',
  '\\u0000',
  '\u0000',
  '&a [*a]',
  '*a',
  '!!binary x',
  '- ',
  '\n',
  '\t',
  '"__proto__":{},',
  '[['.repeat(300),
];

/** One request gone wrong in one to three ways. */
export function mutate(valid: FuzzRequest, random: SeededRandom): FuzzRequest {
  let request = valid;
  for (let count = 1 + random.below(3); count > 0; count -= 1) request = mutateOnce(request, random);
  return request;
}

function mutateOnce(request: FuzzRequest, random: SeededRandom): FuzzRequest {
  // Without a body there is less to go wrong.
  const choice = request.body.length > 0 ? random.next() : 0.65 + 0.35 * random.next();
  if (choice < 0.45) return { ...request, body: withOddValue(request.body, random) };
  if (choice < 0.65) return { ...request, body: withOddBytes(request.body, random) };
  if (choice < 0.75) return { ...request, path: oddPath(request.path, random) };
  if (choice < 0.88) return { ...request, query: oddQuery(request.query, random) };
  if (choice < 0.93) return { ...request, headers: { ...request.headers, 'content-type': random.of(contentTypes) } };
  if (choice < 0.97) return { ...request, headers: { ...request.headers, accept: random.of(accepts) } };
  return { ...request, method: random.of(methods) };
}

/** A JSON body with one of its values or names replaced, taken out or added to; others are changed by bytes. */
function withOddValue(body: Uint8Array, random: SeededRandom): Uint8Array {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return withOddBytes(body, random);
  }
  const parents = containersIn(value);
  if (parents.length === 0) return withOddBytes(body, random);
  const parent = random.of(parents);
  const names = Object.keys(parent);
  const name = names.length === 0 ? random.of(oddNames) : random.of(names);
  const choice = random.next();
  if (choice < 0.6) set(parent, name, random.of(oddValues));
  else if (choice < 0.75) Reflect.deleteProperty(parent, name);
  else if (choice < 0.9)
    set(parent, random.of(oddNames), random.chance(0.5) ? random.of(oddValues) : Reflect.get(parent, name));
  else set(parent, name, [Reflect.get(parent, name), Reflect.get(parent, name)]);
  return Buffer.from(JSON.stringify(value));
}

function set(parent: object, name: string, value: unknown): void {
  if (Array.isArray(parent) && name === 'length') return;
  Object.defineProperty(parent, name, { value, enumerable: true, configurable: true, writable: true });
}

function containersIn(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(containersIn)];
}

function withOddBytes(body: Uint8Array, random: SeededRandom): Uint8Array {
  const bytes = Buffer.from(body);
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + random.below(8));
  const choice = random.next();
  if (choice < 0.3) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
  if (choice < 0.6) return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.of(tokens)), bytes.subarray(at)]);
  if (choice < 0.8) return bytes.subarray(0, at);
  if (at < bytes.length) bytes[at] = random.below(256);
  return bytes;
}

function oddPath(path: string, random: SeededRandom): string {
  const segments = path.split('/');
  const at = 1 + random.below(segments.length);
  const choice = random.next();
  if (choice < 0.5) segments[at] = random.of(oddSegments);
  else if (choice < 0.75) segments.splice(at, 0, random.of(oddSegments));
  else segments.splice(at, 1);
  return segments.join('/') || '/';
}

function oddQuery(query: string, random: SeededRandom): string {
  const added = `${random.of(queryNames)}=${encodeURIComponent(random.of(queryValues))}`;
  return query === '' || random.chance(0.3) ? added : `${query}&${added}`;
}
