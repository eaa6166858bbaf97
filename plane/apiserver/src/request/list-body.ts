import { exactJson } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import type { ListResult } from '../registry/page.js';
import { present, type ResourceDefinition } from '../registry/resource.js';
import { listHead, listItem } from './render.js';

/**
 * Objects never change: what was written once of one of them serves every list until another version takes its place. With
 * the comma that goes before it.
 */
const encodedItems = new WeakMap<ApiObject, Uint8Array>();

/** A list of whole objects as JSON, made while it is sent: the first bytes go out before the last object is looked at. */
export function* listParts(definition: ResourceDefinition, list: ListResult): Generator<Uint8Array, void> {
  const head = JSON.stringify({ ...listHead(definition, list), items: [] });
  yield Buffer.from(head.slice(0, -2));
  let isFirst = true;
  for (const { object } of list.entries) {
    const item = itemOf(definition, present(definition, object));
    yield isFirst ? item.subarray(1) : item;
    isFirst = false;
  }
  yield Buffer.from(']}\n');
}

function itemOf(definition: ResourceDefinition, object: ApiObject): Uint8Array {
  const known = encodedItems.get(object);
  if (known !== undefined) return known;
  const encoded = Buffer.from(`,${exactJson(listItem(definition, object))}`);
  encodedItems.set(object, encoded);
  return encoded;
}
