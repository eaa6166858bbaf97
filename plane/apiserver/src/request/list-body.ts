import { exactJson } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import type { ListResult } from '../registry/page.js';
import { present, type ResourceDefinition } from '../registry/resource.js';
import { listHead, listItem } from './render.js';

/** A list that fits into one chunk is sent as a whole. */
const chunkBytes = 128 * 1024;

/** Objects never change: what was written once of one of them serves every list until another version takes its place. */
const encodedItems = new WeakMap<ApiObject, Uint8Array>();

/** A list of whole objects as JSON, made while it is sent: the first bytes go out before the last object is looked at. */
export function* listChunks(definition: ResourceDefinition, list: ListResult): Generator<Uint8Array, void> {
  const head = JSON.stringify({ ...listHead(definition, list), items: [] });
  let parts: Uint8Array[] = [Buffer.from(head.slice(0, -2))];
  let bytes = 0;
  let isFirst = true;
  for (const { object } of list.entries) {
    const item = itemOf(definition, present(definition, object));
    if (!isFirst) parts.push(comma);
    isFirst = false;
    parts.push(item);
    bytes += item.length;
    if (bytes < chunkBytes) continue;
    yield Buffer.concat(parts);
    parts = [];
    bytes = 0;
  }
  parts.push(end);
  yield Buffer.concat(parts);
}

const comma = Buffer.from(',');
const end = Buffer.from(']}\n');

function itemOf(definition: ResourceDefinition, object: ApiObject): Uint8Array {
  const known = encodedItems.get(object);
  if (known !== undefined) return known;
  const encoded = Buffer.from(exactJson(listItem(definition, object)));
  encodedItems.set(object, encoded);
  return encoded;
}
