import { apiVersionOf, fieldError, invalidError, type StatusError } from '@castellan/machinery';
import { badRequest, unsupportedBody } from '../errors.js';
import { type ApiObject, asApiObject, isRecord, type JsonRecord, record, text } from '../json.js';
import { assertMetadataShape } from '../registry/metadata-shape.js';
import type { ApiRequest } from '../server/http.js';
import { syntaxProblem } from './json-problem.js';
import { parseJsonText } from './json-text.js';
import { jsonType, kindProblem, noVersion } from './kind-problem.js';
import { protobufType, readProtobuf } from './protobuf-body.js';

/** kube-apiserver's limit for a request's body. */
export const maxBodyBytes = 3 * 1024 * 1024;
const readableTypes = ['application/json', 'application/yaml'];

/** An object of a request with the problems of its text that strict clients want to hear of. */
export interface DecodedBody {
  readonly object: ApiObject;
  /** `duplicate field "spec.replicas"` */
  readonly problems: readonly string[];
}

interface Expected {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly isCustom?: boolean;
  /** Versions of the group whose bodies read the same. */
  readonly otherVersions?: readonly string[];
}

export async function readText(request: ApiRequest): Promise<string> {
  const bytes = await request.body(maxBodyBytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** The object in the body, of the kind that the URL names; without kind and apiVersion it gets those of the URL. */
export async function readObject(
  request: ApiRequest,
  expected: Expected,
  warn: (problem: string) => void = () => {},
): Promise<DecodedBody> {
  const mediaType = mediaTypeOf(request);
  if (mediaType === protobufType) {
    const object = await protobufObject(request, expected);
    request.heard?.(object);
    return { object, problems: [] };
  }
  const body = await readText(request);
  const { value, problems } = await parseBody(body, mediaType, expected.kind);
  const object = await asObjectOf(expected, value, { body, warn });
  request.heard?.(object);
  return { object, problems };
}

async function protobufObject(request: ApiRequest, expected: Expected): Promise<ApiObject> {
  const { typeNameOf } = await import('../types/field-types.js');
  const value = await readProtobuf(await request.body(maxBodyBytes), typeNameOf(expected));
  if (value === undefined) throw unsupportedBody(readableTypes);
  return asObjectOf(expected, value, { body: '', warn: () => {} });
}

/** A parsed body as an object of the kind that the URL names, its metadata of the right types. */
async function asObjectOf(
  expected: Expected,
  value: JsonRecord,
  { body, warn }: { readonly body: string; readonly warn: (problem: string) => void },
): Promise<ApiObject> {
  const apiVersion = apiVersionOf(expected);
  if (expected.isCustom === true) assertSaysKind(expected, value, body);
  const kind = text(value.kind) || expected.kind;
  const otherVersions = (expected.otherVersions ?? []).map((version) => apiVersionOf({ ...expected, version }));
  const saidVersion = text(value.apiVersion) || apiVersion;
  const sentVersion = otherVersions.includes(saidVersion) ? apiVersion : saidVersion;
  if (expected.isCustom === true && sentVersion !== apiVersion) {
    // No schema is known of that version, and so no field.
    const fields = Object.keys(value).filter((field) => !['apiVersion', 'kind', 'metadata'].includes(field));
    for (const field of fields.sort()) warn(`unknown field "${field}"`);
    throw badRequest(
      `the API version in the data (${sentVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (expected.isCustom === true && kind !== expected.kind) {
    const { group } = expected;
    const name = text(record(value.metadata).name) ?? '';
    throw invalidError({ kind, group }, name, [fieldError.invalid('kind', kind, `must be ${expected.kind}`)]);
  }
  if (kind !== expected.kind || sentVersion !== apiVersion)
    throw await wrongKind(expected, { kind, apiVersion: sentVersion });
  assertMetadataShape({ ...expected, kind }, record(value.metadata));
  return withoutNulls({ ...value, kind, apiVersion });
}

async function wrongKind(
  expected: Expected,
  sent: { readonly kind: string; readonly apiVersion: string },
): Promise<StatusError> {
  const [first = '', second] = sent.apiVersion.split('/');
  const version = second ?? first;
  const problem = await kindProblem(expected, sent);
  return badRequest(`${sent.kind} in version "${version}" cannot be handled as a ${expected.kind}: ${problem}`);
}

/** Custom resources must say what they are. */
function assertSaysKind(expected: Expected, value: JsonRecord, body: string): void {
  const missing = ['kind', 'apiVersion'].find((field) => (text(value[field]) ?? '') === '');
  if (missing === undefined) return;
  const problem = `Object '${missing === 'kind' ? 'Kind' : missing}' is missing in '${body.trim()}'`;
  throw unrecognized(expected.kind, problem, body);
}

export function mediaTypeOf(request: ApiRequest): string {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase();
}

async function parseBody(
  body: string,
  mediaType: string,
  kind: string,
): Promise<{ readonly value: JsonRecord; readonly problems: readonly string[] }> {
  switch (mediaType) {
    case '':
    case 'application/json':
      return parseJson(body, kind);
    case 'application/yaml':
      return parseYaml(body, kind);
    default:
      throw unsupportedBody([...readableTypes, protobufType]);
  }
}

const notAnObject = (type: string) =>
  `json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;

function parseJson(body: string, kind: string) {
  try {
    const { value, duplicates } = parseJsonText(body);
    // Go's decoder leaves what it fills as it is when it reads null.
    if (value === null) return { value: {}, problems: [] };
    if (!isRecord(value)) throw unrecognized(kind, `${noVersion}${notAnObject(jsonType(value))}`, body);
    return { value, problems: duplicates.map((field) => `duplicate field "${field}"`) };
  } catch (error) {
    if (error instanceof SyntaxError) throw unrecognized(kind, `${noVersion}${syntaxProblem(body)}`, body);
    throw error;
  }
}

async function parseYaml(body: string, kind: string) {
  const { parseYamlText, YamlSyntaxError } = await import('./yaml-text.js');
  try {
    const { value, problems } = parseYamlText(body);
    if (!isRecord(value)) throw unrecognized(kind, `${noVersion}${notAnObject(jsonType(value))}`, body);
    return { value, problems };
  } catch (error) {
    throw error instanceof YamlSyntaxError ? unrecognized(kind, error.message, body) : error;
  }
}

function unrecognized(kind: string, problem: string, body: string): StatusError {
  const message = `the object provided is unrecognized (must be of type ${kind}): ${problem} (${summary(body)})`;
  return badRequest(message);
}

const longestSummary = 30;

/** A body as refusals show it: its beginning, in hexadecimal digits where it is no JSON object. */
function summary(body: string): string {
  if (body === '') return '<empty>';
  const bytes = Buffer.from(body);
  const shown = bytes.subarray(0, longestSummary);
  const text = body.startsWith('{') ? shown.toString('utf8') : shown.toString('hex');
  return bytes.length > longestSummary ? `${text} ...` : text;
}

/** Go's decoder takes null for absent; metadata is where it matters to the server itself. */
function withoutNulls(value: JsonRecord): ApiObject {
  const object = asApiObject(value);
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([, field]) => field !== null));
  return { ...object, metadata };
}
