import { type ApiObject, at, list, record, text } from '../json.js';
import { age, nameOf } from './cells.js';
import { type Column, column } from './column.js';

const name = column('Name', nameOf, { format: 'name' });

/** Columns of the kinds that services take their addresses from. Source: kubectl's output. */
export const serviceNetworkColumns = {
  ipaddresses: [name, column('ParentRef', parentOf)],
  servicecidrs: [
    name,
    column('CIDRs', (object) =>
      list(at(object, 'spec', 'cidrs'))
        .map(String)
        .join(','),
    ),
    column('Age', age),
  ],
} satisfies Readonly<Record<string, readonly Column[]>>;

/** `services/default/kubernetes` */
function parentOf(object: ApiObject): string {
  const { group, resource, namespace, name: parent } = record(at(object, 'spec', 'parentRef'));
  const kind = [text(resource) ?? '', text(group) ?? ''].filter((part) => part !== '').join('.');
  return [kind, text(namespace) ?? '', text(parent) ?? ''].filter((part) => part !== '').join('/');
}
