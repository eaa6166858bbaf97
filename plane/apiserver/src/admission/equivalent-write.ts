import type { ApiObject } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import { presentReady, type ResourceDefinition } from '../registry/resource.js';

/** A write as it is shown to one that asked for another version of the same objects. */
export async function equivalentWrite<Write extends AdmissionWrite>(
  write: Write,
  definition: ResourceDefinition,
): Promise<Write> {
  if (definition === write.definition) return write;
  const { object, current, subresource } = write;
  // Scales, evictions and the like are the same in every version.
  const isWhole = subresource === '' || subresource === 'status';
  const shown = async (each: ApiObject) => (isWhole ? await converted(each, write.definition, definition) : each);
  return {
    ...write,
    definition,
    requestedAs: write.definition,
    ...(object === undefined ? {} : { object: await shown(object) }),
    ...(current === undefined ? {} : { current: await shown(current) }),
  };
}

/** An object of one version as another version of the same objects has it. */
export async function converted(
  object: ApiObject,
  from: ResourceDefinition,
  to: ResourceDefinition,
): Promise<ApiObject> {
  if (from === to) return object;
  return await presentReady(to, (await from.toStorage?.(object)) ?? object);
}
