import { apiVersionOf, StatusError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import { type ApiObject, without } from '../json.js';
import { partialMetadata } from '../printers/partial-metadata.js';
import { tableOf } from '../printers/table.js';
import type { ListResult } from '../registry/page.js';
import { present, type ResourceDefinition } from '../registry/resource.js';
import type { RenderOptions } from './render-options.js';

/** Refuses to show a list as one object or one object as a list, and Tables that hold what is unknown. */
export function assertShape(definition: ResourceDefinition, options: RenderOptions, isList: boolean): void {
  const { shape, isOfList } = options.representation;
  if (isOfList !== undefined && isOfList !== isList) {
    const goPackage = definition.isCustom ? 'unstructured' : definition.group.split('.')[0] || 'core';
    const goType = `*${goPackage}.${definition.isCustom ? 'Unstructured' : definition.kind}${isList ? 'List' : ''}`;
    const asked = isOfList ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
    const what = isList ? 'is a list' : 'is not a list';
    throw StatusError.of('NotAcceptable', `you requested ${asked}, but the requested object ${what} (${goType})`);
  }
  if (shape === 'Table' && !['', 'None', 'Metadata', 'Object'].includes(options.includeObject)) {
    const problem = `Invalid value: ${JSON.stringify(options.includeObject)}: must be 'Metadata', 'Object', 'None', or empty`;
    throw badRequest(`Unable to convert to Table as requested: includeObject: ${problem}`);
  }
}

/** One object in the representation that the client asked for. */
export function renderObject(definition: ResourceDefinition, object: ApiObject, options: RenderOptions): unknown {
  switch (options.representation.shape) {
    case 'object':
      return object;
    case 'PartialObjectMetadata':
      return partialMetadata(object, options.representation.shapeVersion);
    case 'Table':
      return tableOf(definition, [object], {
        ...options,
        metadata: listMetadata(object.metadata.resourceVersion ?? ''),
      });
  }
}

export function renderList(definition: ResourceDefinition, list: ListResult, options: RenderOptions): unknown {
  const objects = list.entries.map(({ object }) => present(definition, object));
  const head = listHead(definition, list);
  const { metadata } = head;
  const { shape, shapeVersion } = options.representation;
  switch (shape) {
    case 'object':
      return { ...head, items: objects.map((object) => listItem(definition, object)) };
    case 'PartialObjectMetadata':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${shapeVersion}`,
        metadata,
        items: objects.map((object) => partialMetadata(object, shapeVersion)),
      };
    case 'Table':
      return tableOf(definition, objects, { ...options, metadata });
  }
}

/** A list of whole objects without its items. */
export function listHead(definition: ResourceDefinition, list: ListResult) {
  return {
    kind: definition.listKind,
    apiVersion: apiVersionOf(definition),
    metadata: {
      ...listMetadata(String(list.revision)),
      // Lists of custom resources say so when nothing follows; built-in ones say nothing.
      ...(list.continue === undefined ? (definition.isCustom ? { continue: '' } : {}) : { continue: list.continue }),
      ...(list.remainingItemCount === undefined ? {} : { remainingItemCount: list.remainingItemCount }),
    },
  };
}

/** Items of built-in lists carry no kind of their own; those of custom resources do. */
export function listItem(definition: ResourceDefinition, object: ApiObject): unknown {
  return definition.isCustom ? object : without(object, 'kind', 'apiVersion');
}

function listMetadata(resourceVersion: string) {
  return { resourceVersion };
}
