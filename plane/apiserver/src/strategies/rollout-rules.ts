import { type FieldError, fieldError, ShownValue } from '@castellan/machinery';
import { at, type JsonRecord, record, text } from '../json.js';

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number of the object that may not be below 0. */
export function nonNegative(object: unknown, path: readonly string[]): readonly FieldError[] {
  const value = at(object, ...path);
  if (typeof value !== 'number' || value >= 0) return [];
  return [fieldError.invalid(path.join('.'), value, 'must be greater than or equal to 0')];
}

/** Pods of a workload that runs for ever. */
export function onlyRestartsAlways(template: unknown, path: string): readonly FieldError[] {
  const policy = at(template, 'spec', 'restartPolicy');
  if (policy === 'Always') return [];
  return [fieldError.notSupported(`${path}.spec.restartPolicy`, policy, ['Always'])];
}

/** What replaces pods: a known type, and for rolling updates amounts that are numbers or percentages. */
export function rollingUpdateErrors(
  strategy: JsonRecord,
  path: string,
  types: readonly string[],
): readonly FieldError[] {
  const type = text(strategy.type) ?? '';
  if (!types.includes(type)) {
    return [fieldError.notSupported(path, shownStrategy(strategy), types)];
  }
  if (type !== 'RollingUpdate') {
    if (strategy.rollingUpdate === undefined || type !== 'Recreate') return [];
    const problem = `may not be specified when strategy \`type\` is '${type}'`;
    return [fieldError.forbidden(`${path}.rollingUpdate`, problem)];
  }
  const { maxUnavailable, maxSurge } = record(strategy.rollingUpdate);
  return [
    ...podAmountErrors(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`, true),
    ...podAmountErrors(maxSurge, `${path}.rollingUpdate.maxSurge`, path === 'spec.updateStrategy'),
  ];
}

/** As Go prints it: fields in the order of the structure, by their Go names. */
function shownStrategy({ type, rollingUpdate }: JsonRecord): ShownValue {
  const { maxUnavailable = 0, maxSurge = 0 } = record(rollingUpdate);
  const rollout = rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge };
  return new ShownValue({ Type: type ?? '', RollingUpdate: rollout });
}

/** Some pod must be allowed to be too many or too few. */
export function notUnlimited(strategy: JsonRecord, path: string): readonly FieldError[] {
  const { maxUnavailable, maxSurge } = record(strategy.rollingUpdate);
  if (strategy.type !== 'RollingUpdate' || !isNothing(maxUnavailable) || !isNothing(maxSurge)) return [];
  return [
    fieldError.invalid(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'),
  ];
}

function isNothing(amount: unknown): boolean {
  return amount === 0 || (typeof amount === 'string' && /^0+%$/.test(amount));
}

/** A number of pods, or a percentage of them. */
export function podAmountErrors(amount: unknown, path: string, isAtMostAll: boolean): readonly FieldError[] {
  if (typeof amount === 'number') {
    return amount >= 0 ? [] : [fieldError.invalid(path, amount, 'must be greater than or equal to 0')];
  }
  if (typeof amount !== 'string') return [];
  if (!/^[0-9]+%$/.test(amount)) return [fieldError.invalid(path, amount, percentText)];
  if (isAtMostAll && Number.parseInt(amount, 10) > 100) {
    return [fieldError.invalid(path, amount, 'must not be greater than 100%')];
  }
  return [];
}
