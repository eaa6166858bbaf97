import { StatusError } from '../status-error.js';
import { type FieldSet, isEmptySet, pathsOf } from './field-set.js';
import type { Manager } from './managers.js';
import { formatPath } from './path-element.js';

/** Fields of another manager that an apply would change. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** The 409 of an apply without force, in the words and order of kube-apiserver. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const byManager = conflicts
    .filter(({ fields }) => !isEmptySet(fields))
    .map(({ manager, fields }) => ({ who: describe(manager), paths: pathsOf(fields).map(formatPath) }))
    .sort((a, b) => (a.who < b.who ? -1 : 1));
  const count = byManager.reduce((sum, { paths }) => sum + paths.length, 0);
  const messages = byManager.map(({ who, paths }) =>
    count === 1
      ? `conflict with ${who}: ${paths[0]}`
      : [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)].join('\n'),
  );
  return StatusError.of(
    'Conflict',
    `Apply failed with ${count} ${count === 1 ? 'conflict' : 'conflicts'}: ${messages.join('\n')}`,
    {
      causes: byManager.flatMap(({ who, paths }) =>
        paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
      ),
    },
  );
}

function describe({ manager, subresource, operation, apiVersion }: Manager): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
