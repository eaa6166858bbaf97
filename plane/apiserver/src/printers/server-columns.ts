import { type ApiObject, at, count, records, text } from '../json.js';
import { age, nameOf } from './cells.js';
import { type Column, column } from './column.js';

const none = '<none>';
const name = column('Name', nameOf, { format: 'name' });
const ageColumn = column('Age', age);

/** Columns of what a server says of itself. Source: kubectl's output for each kind. */
export const serverColumns = {
  componentstatuses: [
    name,
    column('Status', (object) => (healthy(object)?.status === 'True' ? 'Healthy' : 'Unhealthy')),
    column('Message', (object) => text(healthy(object)?.message) ?? ''),
    column('Error', (object) => text(healthy(object)?.error) ?? ''),
  ],
  apiservices: [name, column('Service', serviceOf), column('Available', availabilityOf), ageColumn],
  flowschemas: [
    name,
    column('PriorityLevel', (object) => text(at(object, 'spec', 'priorityLevelConfiguration', 'name')) || none),
    column('MatchingPrecedence', (object) => count(at(object, 'spec', 'matchingPrecedence')) ?? 0),
    column('DistinguisherMethod', (object) => text(at(object, 'spec', 'distinguisherMethod', 'type')) ?? none),
    ageColumn,
    column('MissingPL', (object) => conditionOf(object, 'Dangling') ?? '?'),
  ],
  prioritylevelconfigurations: [
    name,
    column('Type', (object) => text(at(object, 'spec', 'type')) ?? ''),
    column('NominalConcurrencyShares', sharesOf),
    column('Queues', (object) => queuing(object, 'queues')),
    column('HandSize', (object) => queuing(object, 'handSize')),
    column('QueueLengthLimit', (object) => queuing(object, 'queueLengthLimit')),
    ageColumn,
  ],
} satisfies Readonly<Record<string, readonly Column[]>>;

function healthy(object: ApiObject) {
  return records(object.conditions).find(({ type }) => type === 'Healthy');
}

/** `Local`, or the service that answers for the group. */
function serviceOf(object: ApiObject): string {
  const service = at(object, 'spec', 'service');
  if (service === undefined) return 'Local';
  return `${text(at(service, 'namespace')) ?? ''}/${text(at(service, 'name')) ?? ''}`;
}

function availabilityOf(object: ApiObject): string {
  const condition = records(at(object, 'status', 'conditions')).find(({ type }) => type === 'Available');
  const status = text(condition?.status) ?? 'Unknown';
  return status === 'True' || condition === undefined ? status : `${status} (${text(condition.reason) ?? ''})`;
}

function conditionOf(object: ApiObject, wanted: string): string | undefined {
  return text(records(at(object, 'status', 'conditions')).find(({ type }) => type === wanted)?.status);
}

function sharesOf(object: ApiObject): unknown {
  return (
    at(object, 'spec', 'limited', 'nominalConcurrencyShares') ??
    at(object, 'spec', 'exempt', 'nominalConcurrencyShares') ??
    none
  );
}

function queuing(object: ApiObject, field: string): unknown {
  return at(object, 'spec', 'limited', 'limitResponse', 'queuing', field) ?? none;
}
