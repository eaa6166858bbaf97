import { type ApiObject, at, records, text } from '../json.js';
import { age, createdAt, nameOf } from './cells.js';
import { type Column, column } from './column.js';

const name = column('Name', nameOf, { format: 'name' });

function subjects(title: string, kind: string): Column {
  return column(
    title,
    (binding: ApiObject) =>
      records(binding.subjects)
        .filter((subject) => subject.kind === kind)
        .map((subject) => {
          const own = text(subject.name) ?? '';
          return kind === 'ServiceAccount' ? `${text(subject.namespace) ?? ''}/${own}` : own;
        })
        .join(', '),
    { priority: 1 },
  );
}

/** kubectl's columns of roles. */
export const roleColumns: readonly Column[] = [name, column('Created At', createdAt, { type: 'date' })];

/** kubectl's columns of what gives roles to whom. */
export const roleBindingColumns: readonly Column[] = [
  name,
  column(
    'Role',
    (binding) => `${text(at(binding, 'roleRef', 'kind')) ?? ''}/${text(at(binding, 'roleRef', 'name')) ?? ''}`,
  ),
  column('Age', age),
  subjects('Users', 'User'),
  subjects('Groups', 'Group'),
  subjects('ServiceAccounts', 'ServiceAccount'),
];
