import type { ApiObject } from '../json.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { RenderOptions } from '../request/render-options.js';
import type { Column } from './column.js';
import { columnDescriptions } from './column-descriptions.gen.js';
import { partialMetadata } from './partial-metadata.js';

export interface TableOptions extends RenderOptions {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** In a watch only the first event carries the columns. */
  readonly withoutColumns?: boolean;
}

/** meta.k8s.io Table: what `kubectl get` prints. */
export function tableOf(definition: ResourceDefinition, objects: readonly ApiObject[], options: TableOptions) {
  const { representation, includeObject, metadata, nowMs, withoutColumns = false } = options;
  const version = representation.shapeVersion;
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: withoutColumns ? null : definition.columns.map((column) => columnDefinition(definition, column)),
    rows: objects.map((object) => ({
      cells: definition.columns.map((column) => column.cell(object, nowMs)),
      object: rowObject(object, includeObject, version),
    })),
  };
}

function rowObject(object: ApiObject, include: string, version: string): unknown {
  if (include === 'None') return null;
  return include === 'Object' ? object : partialMetadata(object, version);
}

function columnDefinition(resource: ResourceDefinition, { name, type, format, description, priority }: Column) {
  const described = resource.isCustom && description !== '' ? description : describe(resource, name);
  return { name, type, format, description: described ?? description, priority };
}

/** What the API reference says of the column; of custom resources only what every object has is known. */
function describe({ isCustom, plural }: ResourceDefinition, column: string): string | undefined {
  const own = !isCustom && Object.hasOwn(columnDescriptions, plural) ? columnDescriptions[plural] : undefined;
  const known = own !== undefined && Object.hasOwn(own, column) ? own : columnDescriptions[''];
  return known !== undefined && Object.hasOwn(known, column) ? known[column] : undefined;
}
