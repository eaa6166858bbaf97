import { deepEqual } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, records } from '../json.js';
import { isCovered, parseRules, simpleRules } from './policy-rule.js';

const automatic = 'rbac.authorization.kubernetes.io/autoupdate';

/**
 * A role or binding that every cluster has, with what it has lost put back: rules, subjects, labels. What was added to it
 * stays. Undefined where nothing is missing, or whose annotation says that it is to be left alone.
 */
export function reconciled(expected: ApiObject, present: ApiObject): ApiObject | undefined {
  if (present.metadata.annotations?.[automatic] === 'false') return undefined;
  const { metadata } = present;
  const result: ApiObject = {
    ...present,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...expected.metadata.labels },
      annotations: { ...metadata.annotations, ...expected.metadata.annotations },
    },
    ...withMissing('subjects', present, expected),
    ...selectorsOf(present, expected),
    // The rules of a role that is made of others follow from those.
    ...(expected.aggregationRule === undefined ? rulesOf(present, expected) : {}),
  };
  return deepEqual(result, present) ? undefined : result;
}

/** Whether a binding grants another role than it should: that cannot be changed, only made anew. */
export function isOtherRole(expected: ApiObject, present: ApiObject): boolean {
  const isAutomatic = present.metadata.annotations?.[automatic] !== 'false';
  return isAutomatic && expected.roleRef !== undefined && !deepEqual(expected.roleRef, present.roleRef);
}

function rulesOf(present: ApiObject, expected: ApiObject): JsonRecord {
  const held = parseRules(present.rules);
  const missing = records(expected.rules).filter(
    (rule) =>
      !parseRules([rule])
        .flatMap(simpleRules)
        .every((simple) => isCovered(held, simple)),
  );
  return missing.length === 0 ? {} : { rules: [...records(present.rules), ...missing] };
}

function withMissing(field: string, present: ApiObject, expected: ApiObject): JsonRecord {
  const own = records(present[field]);
  const missing = records(expected[field]).filter((each) => !own.some((other) => deepEqual(each, other)));
  return missing.length === 0 ? {} : { [field]: [...own, ...missing] };
}

function selectorsOf(present: ApiObject, expected: ApiObject): JsonRecord {
  const path = ['aggregationRule', 'clusterRoleSelectors'] as const;
  const own = records(at(present, ...path));
  const missing = records(at(expected, ...path)).filter((each) => !own.some((other) => deepEqual(each, other)));
  return missing.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: [...own, ...missing] } };
}
