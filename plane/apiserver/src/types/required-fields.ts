import { schemaNotes } from './schema-notes.gen.js';

/** Lists that Go writes even when they are empty, though OpenAPI does not call them required. */
const writtenEmpty: ReadonlySet<string> = new Set([
  'rbac/v1.Role.rules',
  'rbac/v1.ClusterRole.rules',
  'discovery/v1.EndpointSlice.ports',
]);

const requiredOf = new Map<string, ReadonlySet<string>>();

/** Whether a field is part of every object of its type, be it empty. */
export function isRequired(typeName: string, field: string): boolean {
  let required = requiredOf.get(typeName);
  if (required === undefined) {
    const notes = Object.hasOwn(schemaNotes, typeName) ? (schemaNotes[typeName] ?? '') : '';
    const names = notes.split(' ').filter((note) => note.endsWith('!'));
    required = new Set(names.map((note) => note.slice(0, -1)));
    requiredOf.set(typeName, required);
  }
  return required.has(field) || writtenEmpty.has(`${typeName}.${field}`);
}
