import { apiVersionOf } from '@castellan/machinery';
import { badRequest, conflict } from '../errors.js';
import { type ApiObject, asApiObject, isRecord, record, text } from '../json.js';
import { withApplied } from '../registry/field-ownership.js';
import { assertMetadataShape } from '../registry/metadata-shape.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { updateObject } from '../registry/write.js';
import type { ApiRequest } from '../server/http.js';
import { readText } from './body.js';
import type { ResourceExchange } from './exchange.js';
import { checkFields } from './field-validation.js';
import { parseJsonText } from './json-text.js';
import { renderObject } from './render.js';
import { isForced } from './write-options.js';
import type { YamlText } from './yaml-text.js';

/** PATCH with `application/apply-patch+yaml`: server-side apply, of an object or of its status. */
export async function serveApply(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  const { definition } = resource;
  const { namespace, name = '', subresource } = info;
  const { applied, problems } = await readApplied(request, definition, name);
  const apply = async (current: ApiObject | undefined) => {
    const ownership = { current, subresource, isForced: isForced(request) };
    const object = await withApplied(definition, applied, ownership, tools.context);
    return checkFields(definition, object, { problems, query: request.query, reply });
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

interface Applied {
  readonly applied: ApiObject;
  /** What strict clients want to hear of its text. */
  readonly problems: readonly string[];
}

type NamedKind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'isCustom'>;

/** The object that a request applies. @throws StatusError 400 */
export async function readApplied(request: ApiRequest, kind: NamedKind, name: string): Promise<Applied> {
  const { value, problems } = await parseApplied(await readText(request));
  request.heard?.(value);
  return { applied: appliedObject(value, kind, name), problems };
}

/** The applied object, which must say of what kind it is; its name is that of the URL. */
function appliedObject(value: unknown, definition: NamedKind, name: string): ApiObject {
  if (!isRecord(value)) throw badRequest('error decoding YAML: the document is not an object');
  const { kind } = definition;
  const [sentVersion, sentKind] = [text(value.apiVersion) ?? '', text(value.kind) ?? ''];
  if (sentVersion !== apiVersionOf(definition) || sentKind !== kind) {
    const groupVersion = sentVersion.includes('/') ? sentVersion : `/${sentVersion}`;
    throw badRequest(`invalid object type: ${groupVersion}, Kind=${sentKind}`);
  }
  assertMetadataShape(definition, record(value.metadata));
  const applied = asApiObject(value);
  const { name: sentName = name } = applied.metadata;
  if (sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`);
  }
  return { ...applied, metadata: { ...applied.metadata, name } };
}

async function parseApplied(body: string): Promise<YamlText> {
  // Most clients send JSON, which is read a hundred times faster as such.
  if (body.startsWith('{')) {
    try {
      const { value, duplicates } = parseJsonText(body);
      return { value, problems: duplicates.map((field) => `duplicate field "${field}"`) };
    } catch (error) {
      // YAML in braces, or neither: the reader below tells.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  const { parseYamlText, YamlSyntaxError } = await import('./yaml-text.js');
  try {
    return parseYamlText(body);
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}
