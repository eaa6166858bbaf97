import { badRequest } from '../errors.js';
import { count, isRecord, type JsonRecord, list, record, text } from '../json.js';
import type { DeleteOptions } from '../registry/delete.js';
import type { ApiRequest } from '../server/http.js';
import { maxBodyBytes, mediaTypeOf, readText } from './body.js';
import { protobufType, readProtobuf } from './protobuf-body.js';

const policies = ['Background', 'Foreground', 'Orphan'];

/** DeleteOptions of the body, else of the query. */
export async function readDeleteOptions(
  request: ApiRequest,
): Promise<{ readonly options: DeleteOptions; readonly isDryRun: boolean }> {
  const sent = await readSent(request);
  const grace = count(sent.gracePeriodSeconds);
  const policy = text(sent.propagationPolicy) ?? legacyPolicy(sent.orphanDependents);
  if (policy !== undefined && !policies.includes(policy)) {
    throw badRequest(
      `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
    );
  }
  const { uid, resourceVersion } = record(sent.preconditions);
  const options = {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
  };
  return { options, isDryRun: list(sent.dryRun).includes('All') };
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
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
  };
}

function legacyPolicy(orphanDependents: unknown): string | undefined {
  if (typeof orphanDependents !== 'boolean') return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

async function parsed(body: string, mediaType: string): Promise<unknown> {
  try {
    if (mediaType === 'application/yaml') return (await import('yaml')).parse(body);
    const value: unknown = JSON.parse(body);
    if (isRecord(value)) return value;
  } catch (error) {
    throw badRequest(`cannot read DeleteOptions: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw badRequest('cannot read DeleteOptions: the body is not an object');
}
