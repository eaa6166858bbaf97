import { type FieldError, fieldError, invalidError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import { count, isRecord, type JsonRecord, list, record, text } from '../json.js';
import type { DeleteOptions } from '../registry/delete.js';
import type { ApiRequest } from '../server/http.js';
import { isTrue } from './authorize.js';
import { maxBodyBytes, mediaTypeOf, readText } from './body.js';
import { syntaxProblem } from './json-problem.js';
import { parseJsonText } from './json-text.js';
import { protobufType, readProtobuf } from './protobuf-body.js';

const policies = ['Foreground', 'Background', 'Orphan'];

interface SentDeleteOptions {
  readonly options: DeleteOptions;
  readonly isDryRun: boolean;
  /** Whether the reply is 202 when the object is still there: so for clients that speak the oldest of the dialects. */
  readonly isAccepted: boolean;
}

/** DeleteOptions of the body, else of the query. Fails with 422 where they contradict themselves. */
export async function readDeleteOptions(request: ApiRequest): Promise<SentDeleteOptions> {
  const sent = await readSent(request);
  request.heard?.({ kind: 'DeleteOptions', apiVersion: 'v1', ...sent });
  return deleteOptionsOf(sent);
}

/** The same of options that are a part of a body. */
export function deleteOptionsOf(sent: JsonRecord): SentDeleteOptions {
  const grace = count(sent.gracePeriodSeconds);
  const errors = optionErrors(sent);
  if (errors.length > 0) throw invalidError({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  const policy = text(sent.propagationPolicy) ?? legacyPolicy(sent.orphanDependents);
  const { uid, resourceVersion } = record(sent.preconditions);
  const options = {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
  };
  return { options, isDryRun: list(sent.dryRun).length > 0, isAccepted: sent.orphanDependents === false };
}

async function readSent(request: ApiRequest): Promise<JsonRecord> {
  if (mediaTypeOf(request) === protobufType) {
    const body = await request.body(maxBodyBytes);
    if (body.length > 0) return record(await readProtobuf(body, 'meta/v1.DeleteOptions'));
  }
  const body = await readText(request);
  return body === '' ? fromQuery(request.query) : record(await parsed(body, mediaTypeOf(request)));
}

function fromQuery(query: URLSearchParams): JsonRecord {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const uid = query.get('preconditions.uid');
  if (grace !== null && !/^[+-]?\d+$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  }
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
    ...(uid === null ? {} : { preconditions: { uid } }),
    dryRun: query.getAll('dryRun').filter((value) => value !== ''),
  };
}

function optionErrors({ propagationPolicy, orphanDependents, dryRun }: JsonRecord): readonly FieldError[] {
  const policy = text(propagationPolicy) ?? '';
  const errors: FieldError[] = [];
  if (policy !== '' && typeof orphanDependents === 'boolean') {
    const problem = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(fieldError.invalid('propagationPolicy', policy, problem));
  }
  if (propagationPolicy !== undefined && propagationPolicy !== null && !policies.includes(policy)) {
    errors.push(fieldError.notSupported('propagationPolicy', policy, [...policies, 'nil']));
  }
  return [
    ...errors,
    ...list(dryRun)
      .filter((value) => value !== 'All')
      .map((value) => fieldError.notSupported('dryRun', value, ['All'])),
  ];
}

function legacyPolicy(orphanDependents: unknown): string | undefined {
  if (typeof orphanDependents !== 'boolean') return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

async function parsed(body: string, mediaType: string): Promise<unknown> {
  if (mediaType === 'application/yaml') {
    const { parseYamlText, YamlSyntaxError } = await import('./yaml-text.js');
    try {
      return parseYamlText(body).value;
    } catch (error) {
      throw error instanceof YamlSyntaxError ? badRequest(`cannot read DeleteOptions: ${error.message}`) : error;
    }
  }
  try {
    const { value } = parseJsonText(body);
    if (isRecord(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`cannot read DeleteOptions: ${syntaxProblem(body)}`);
  }
  throw badRequest('cannot read DeleteOptions: the body is not an object');
}
