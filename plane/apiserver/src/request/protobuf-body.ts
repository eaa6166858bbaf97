import { badRequest } from '../errors.js';
import type { JsonRecord } from '../json.js';
import type { Envelope } from '../protobuf/decode.js';

/** What Go clients send for built-in kinds, and do not replace by JSON when it is refused. */
export const protobufType = 'application/vnd.kubernetes.protobuf';

/**
 * A protobuf body as the JSON that would say the same, with the kind and version that it names itself. The tables are
 * loaded with the first such body. Undefined: the type is not one of Kubernetes' own.
 */
export async function readProtobuf(body: Uint8Array, typeName: string): Promise<JsonRecord | undefined> {
  const [{ decodeEnvelope, decodeMessage }, { objectType }, { ProtobufError }] = await Promise.all([
    import('../protobuf/decode.js'),
    import('../types/field-types.js'),
    import('../protobuf/wire.js'),
  ]);
  if (objectType(typeName) === undefined) return undefined;
  try {
    const envelope = decodeEnvelope(body);
    return { ...typeOf(envelope), ...decodeMessage(typeName, envelope.raw) };
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw badRequest(`the protobuf body cannot be read as ${typeName}: ${error.message}`);
  }
}

function typeOf({ kind, apiVersion }: Envelope): JsonRecord {
  return { ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }) };
}
