import { type Condition, isRecord, type Kind, type ResourceType } from '@castellan/machinery';
import type { Decision } from '../decision.js';

/** The usual name of the condition that says whether all is well: `kubectl wait --for=condition=Ready`. */
const usualType = 'Ready';

/** A kind made by `defineKind` has conditions in its status, if it has a status; of others it is not known. */
export function defaultConditionOf(type: ResourceType): string | undefined {
  if (!isDefined(type)) return undefined;
  const version = type.crd.spec.versions.find(({ name }) => name === type.version);
  return version?.schema?.openAPIV3Schema?.properties?.status === undefined ? undefined : usualType;
}

function isDefined(type: ResourceType | Kind): type is Kind {
  return 'crd' in type && isRecord(type.crd);
}

/** True when settled; else its reason says which of the decisions it was, and its message says it as the log does. */
export function conditionOf(type: string, decision: Decision<never>): Condition {
  switch (decision.kind) {
    case 'settled':
      return { type, status: 'True', reason: 'Settled', message: decision.reason };
    case 'wait':
      return { type, status: 'False', reason: 'Waiting', message: decision.reason };
    case 'blocked':
      return { type, status: 'False', reason: 'Blocked', message: `${decision.reason}; ${decision.remedy}` };
    case 'step':
      return { type, status: 'False', reason: 'Acting', message: decision.reason };
  }
}
