import { formatQuantity, parseQuantity } from '@castellan/machinery';
import { type ApiObject, at, list, record, records, text } from '../json.js';
import { age, nameOf } from './cells.js';
import { type Column, column } from './column.js';

const name = column('Name', nameOf, { format: 'name' });
const ageColumn = column('Age', age);
const unset = '<unset>';

/** Columns of the kinds that storage drivers speak of, and of runtime classes. Source: kubectl's output for each kind. */
export const storageColumns = {
  csidrivers: [
    name,
    column('AttachRequired', (object) => at(object, 'spec', 'attachRequired') !== false, { type: 'boolean' }),
    column('PodInfoOnMount', (object) => at(object, 'spec', 'podInfoOnMount') === true, { type: 'boolean' }),
    column('StorageCapacity', (object) => at(object, 'spec', 'storageCapacity') === true, { type: 'boolean' }),
    column('TokenRequests', tokenAudiences),
    column('RequiresRepublish', (object) => at(object, 'spec', 'requiresRepublish') === true, { type: 'boolean' }),
    column(
      'Modes',
      (object) =>
        list(at(object, 'spec', 'volumeLifecycleModes'))
          .map(String)
          .join(',') || '<none>',
    ),
    ageColumn,
  ],
  csinodes: [
    name,
    column('Drivers', (object) => list(at(object, 'spec', 'drivers')).length, { type: 'integer' }),
    ageColumn,
  ],
  csistoragecapacities: [
    name,
    column('StorageClassName', (object) => text(object.storageClassName) ?? ''),
    column('Capacity', capacityOf),
  ],
  volumeattachments: [
    name,
    column('Attacher', (object) => text(at(object, 'spec', 'attacher')) ?? '', { format: 'name' }),
    column('PV', (object) => text(at(object, 'spec', 'source', 'persistentVolumeName')) ?? ''),
    column('Node', (object) => text(at(object, 'spec', 'nodeName')) ?? ''),
    column('Attached', (object) => at(object, 'status', 'attached') === true, { type: 'boolean' }),
    ageColumn,
  ],
  volumeattributesclasses: [name, column('DriverName', (object) => text(object.driverName) ?? ''), ageColumn],
  runtimeclasses: [name, column('Handler', (object) => text(object.handler) ?? ''), ageColumn],
} satisfies Readonly<Record<string, readonly Column[]>>;

function tokenAudiences(object: ApiObject): string {
  const audiences = records(at(object, 'spec', 'tokenRequests')).map(({ audience }) => text(audience) ?? '');
  return audiences.length === 0 ? unset : audiences.join(',');
}

function capacityOf(object: ApiObject): string {
  const { capacity } = record(object);
  return capacity === undefined ? unset : formatQuantity(parseQuantity(String(capacity)));
}
