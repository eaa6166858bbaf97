import { apiVersionOf } from '@castellan/machinery';
import { badRequest, conflict } from '../errors.js';
import { type ApiObject, asApiObject, isRecord, record, text } from '../json.js';
import { withApplied } from '../registry/field-ownership.js';
import { assertMetadataShape } from '../registry/metadata-shape.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { updateObject } from '../registry/write.js';
import { readText } from './body.js';
import { checkFields } from './field-validation.js';
import { renderObject } from './render.js';
import type { ResourceExchange } from './resource-handler.js';
import { isForced } from './write-options.js';

/** PATCH with `application/apply-patch+yaml`: server-side apply, of an object or of its status. */
export async function serveApply(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  const { definition } = resource;
  const { namespace, name = '', subresource } = info;
  const applied = await readApplied(await readText(request), definition, name);
  const apply = async (current: ApiObject | undefined) => {
    const ownership = { current, subresource, isForced: isForced(request) };
    const object = await withApplied(definition, applied, ownership, tools.context);
    return checkFields(definition, object, { problems: [], query: request.query, reply });
  };
  const create = () => {
    const { uid } = applied.metadata;
    if (uid === undefined || uid === '') return apply(undefined);
    const problem = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(definition, name, problem);
  };
  const written = await updateObject(
    resource,
    {
      namespace,
      name,
      subresource,
      change: apply,
      // A status is applied to what is there.
      ...(subresource === '' ? { createInstead: create } : {}),
      isReplacement: false,
    },
    tools,
  );
  const body = renderObject(definition, written.object, render);
  await reply.object(written.isCreated ? 201 : 200, body, render.representation);
}

/** The applied object, which must say of what kind it is; its name is that of the URL. */
async function readApplied(body: string, definition: ResourceDefinition, name: string): Promise<ApiObject> {
  const value = await parseYaml(body);
  const { kind, version } = definition;
  const sent = record(value);
  const [sentVersion, sentKind] = [text(sent.apiVersion) ?? '', text(sent.kind) ?? ''];
  if (sentVersion !== apiVersionOf(definition) || sentKind !== kind) {
    const groupVersion = sentVersion.includes('/') ? sentVersion : `/${sentVersion}`;
    throw badRequest(`invalid object type: ${groupVersion}, Kind=${sentKind}`);
  }
  assertMetadataShape(kind, version, record(sent.metadata));
  const applied = asApiObject(sent);
  const { name: sentName = name } = applied.metadata;
  if (sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`);
  }
  return { ...applied, metadata: { ...applied.metadata, name } };
}

async function parseYaml(body: string): Promise<unknown> {
  // Most clients send JSON, which is read a hundred times faster as such.
  if (body.startsWith('{')) {
    try {
      return JSON.parse(body);
    } catch {
      // YAML in braces, or neither: the reader below tells.
    }
  }
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(body, { uniqueKeys: false, version: '1.1', merge: false, maxAliasCount: 100 });
  } catch (error) {
    const [problem = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${problem}`);
  }
  if (isRecord(value)) return value;
  throw badRequest('error decoding YAML: the document is not an object');
}
