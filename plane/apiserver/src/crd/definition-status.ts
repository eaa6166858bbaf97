import { deepEqual } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, list, record, records, text, withAt } from '../json.js';
import { timestamp, type WriteContext } from '../registry/strategy.js';
import { decideNames } from './accepted-names.js';
import { approvalCondition } from './definition-names.js';

type Clock = Pick<WriteContext, 'world'>;

/** The status of a definition that nobody has looked at yet: what clients see in the reply to its creation. */
export function initialStatus(crd: ApiObject): JsonRecord {
  const storedVersions = withStorageVersion([], crd);
  return { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions };
}

/** The versions in which objects may be stored: those of before and the one of now. */
export function withStorageVersion(stored: readonly unknown[], crd: ApiObject): readonly unknown[] {
  const version = records(at(crd, 'spec', 'versions')).find(({ storage }) => storage === true);
  const name = text(version?.name) ?? '';
  return stored.includes(name) ? stored : [...stored, name];
}

/** The status of a definition once its names are decided; no peers are waited for, so it is established at once. */
export function withEstablishment(object: ApiObject, neighbours: readonly ApiObject[], clock: Clock): ApiObject {
  const names = decideNames(object, neighbours);
  const verdict = names.areAllAccepted ? 'True' : 'False';
  const wasEstablished = isEstablished(object);
  // Once established it stays so: its objects are there.
  const established =
    names.areAllAccepted || wasEstablished
      ? condition('Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted', clock)
      : condition('Established', 'False', 'NotAccepted', 'not all names are accepted', clock);
  const conditions = [
    ...approvalCondition(object).map(({ status, reason, message }) =>
      condition(approvalType, status, reason, message, clock),
    ),
    condition('NamesAccepted', verdict, names.reason, names.message, clock),
    established,
  ];
  const before = record(object.status);
  const accepted = deepEqual(before.acceptedNames, names.acceptedNames)
    ? before
    : { ...before, acceptedNames: names.acceptedNames };
  return { ...object, status: conditions.reduce(withCondition, accepted) };
}

const approvalType = 'KubernetesAPIApprovalPolicyConformant';

export function isEstablished(crd: ApiObject): boolean {
  return hasCondition(crd, 'Established', 'True');
}

/** Names that it has asked for are another definition's. */
export function waitsForNames(crd: ApiObject): boolean {
  return hasCondition(crd, 'NamesAccepted', 'False');
}

/** Whether its names were ever decided. */
export function isDecided(crd: ApiObject): boolean {
  return hasCondition(crd, 'NamesAccepted', 'True') || waitsForNames(crd);
}

/** Whether its status does not say yet what follows from its names and its approval. */
export function needsDecision(crd: ApiObject): boolean {
  const isAsAsked = deepEqual(at(crd, 'spec', 'names'), at(crd, 'status', 'acceptedNames'));
  const isApproved = approvalCondition(crd).every(({ status }) => hasCondition(crd, approvalType, status));
  return waitsForNames(crd) || !isDecided(crd) || !isAsAsked || !isApproved;
}

/** How far the removal of a definition's objects has come. */
export function withTermination(crd: ApiObject, reason: TerminationReason, clock: Clock): ApiObject {
  const { status, message } = terminations[reason];
  const next = condition('Terminating', status, reason, message, clock);
  return { ...crd, status: withCondition(record(crd.status), next) };
}

export type TerminationReason = keyof typeof terminations;

const terminations = {
  InstanceDeletionPending: {
    status: 'True',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  },
  InstanceDeletionInProgress: { status: 'True', message: 'CustomResource deletion is in progress' },
} as const;

function hasCondition(crd: ApiObject, type: string, status: string): boolean {
  return records(at(crd, 'status', 'conditions')).some((each) => each.type === type && each.status === status);
}

function condition(type: string, status: string, reason: string, message: string, { world }: Clock): JsonRecord {
  return { type, status, lastTransitionTime: timestamp(world), reason, message };
}

/** Sets a condition; its time changes only when its status does. */
function withCondition(status: JsonRecord, next: JsonRecord): JsonRecord {
  const conditions = list(status.conditions).map(record);
  const known = conditions.find(({ type }) => type === next.type);
  if (known === undefined) return withAt(status, ['conditions'], [...conditions, next]);
  const { lastTransitionTime } = known.status === next.status ? known : next;
  const timed = { ...next, lastTransitionTime };
  if (deepEqual(known, timed)) return status;
  return withAt(
    status,
    ['conditions'],
    conditions.map((each) => (each === known ? timed : each)),
  );
}
