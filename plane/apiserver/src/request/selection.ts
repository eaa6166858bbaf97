import {
  type FieldSelector,
  type LabelSelector,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from '@castellan/machinery';
import { badRequest } from '../errors.js';
import { type ApiObject, at } from '../json.js';
import type { ResourceDefinition } from '../registry/resource.js';

/** Which objects of a collection a request is about. */
export interface Selection {
  readonly isEverything: boolean;
  matches(object: ApiObject): boolean;
}

/** What a query's labelSelector and fieldSelector select. */
export function parseSelection(query: URLSearchParams, definition: ResourceDefinition): Selection {
  const labels: LabelSelector = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields: FieldSelector = parseFieldSelector(query.get('fieldSelector') ?? '');
  for (const { field } of fields) {
    if (pathOf(field, definition) === undefined) throw badRequest(unknownField(field, definition));
  }
  return {
    isEverything: labels.length === 0 && fields.length === 0,
    matches: (object) =>
      (labels.length === 0 || matchesLabels(labels, object.metadata.labels)) &&
      (fields.length === 0 || matchesFields(fields, (field) => fieldText(object, field, definition))),
  };
}

function unknownField(field: string, definition: ResourceDefinition): string {
  return Object.keys(definition.fieldLabels).length === 0
    ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
    : `field label not supported: ${field}`;
}

function pathOf(field: string, definition: ResourceDefinition): readonly string[] | undefined {
  const hasOwnLabels = Object.keys(definition.fieldLabels).length > 0;
  if (field === 'metadata.name') return ['metadata', 'name'];
  // A kind without labels of its own may be asked for its namespace even where it has none.
  if (field === 'metadata.namespace' && (definition.isNamespaced || !hasOwnLabels)) return ['metadata', 'namespace'];
  return Object.hasOwn(definition.fieldLabels, field) ? definition.fieldLabels[field] : undefined;
}

/** Fields that read as false, not as empty, where an object does not say. */
const booleanFields = ['spec.unschedulable', 'spec.hostNetwork'];

function fieldText(object: ApiObject, field: string, definition: ResourceDefinition): string {
  const path = pathOf(field, definition) ?? [];
  const value = path.length === 0 ? undefined : at(object, ...path);
  if (value === undefined || value === null) return booleanFields.includes(field) ? 'false' : '';
  return String(value);
}
