import { nameAndAge } from '../printers/cells.js';
import { allVerbs, type ResourceDefinition } from './resource.js';

type Required = 'version' | 'kind' | 'plural' | 'isNamespaced';
export type KindRow = Pick<ResourceDefinition, Required> & Partial<Omit<ResourceDefinition, Required>>;

export const statusSubresource = (kind: string) => ({
  name: 'status',
  kind,
  verbs: ['get', 'patch', 'update'] as const,
});

/** A row of the table of kinds with everything that it leaves unsaid. */
export function define(row: KindRow): ResourceDefinition {
  return {
    group: '',
    listKind: `${row.kind}List`,
    singular: row.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    subresources: [],
    strategy: {},
    fieldLabels: {},
    hasGeneration: false,
    createsOnUpdate: false,
    requiresVersionOnUpdate: false,
    returnsDeleted: false,
    isCustom: false,
    columns: nameAndAge,
    ...row,
  };
}
