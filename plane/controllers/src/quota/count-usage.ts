import {
  type Amounts,
  formatAmounts,
  isCountedIn,
  isInQuotaScope,
  type KubernetesObject,
  parseAmounts,
  parseQuantity,
  quotaUsage,
  type ResourceQuota,
  type ResourceType,
  sumOfAmounts,
} from '@castellan/machinery';

/** The objects of one kind in a quota's namespace; as a number where nothing but how many there are counts. */
export interface Counted {
  readonly type: ResourceType;
  readonly objects: readonly KubernetesObject[] | number;
}

/** What of the resources that a quota names is used; those that nothing of `counted` can use are left out. */
export function usedOf(quota: ResourceQuota, counted: readonly Counted[]): Readonly<Record<string, string>> {
  const names = Object.keys(quota.spec?.hard ?? {});
  const known = names.filter((name) => counted.some(({ type }) => isCountedIn(name, type)));
  const total = counted.map((each) => usageOf(quota, each)).reduce(sumOfAmounts, zero(known));
  return formatAmounts(new Map([...total].filter(([name]) => known.includes(name))));
}

function usageOf(quota: ResourceQuota, { type, objects }: Counted): Amounts {
  if (typeof objects === 'number') {
    const each = isInQuotaScope(quota, type, {}) ? [...quotaUsage(type, {}).keys()] : [];
    return new Map(each.map((name) => [name, parseQuantity(String(objects))]));
  }
  return objects
    .filter((object) => isInQuotaScope(quota, type, object))
    .map((object) => quotaUsage(type, object))
    .reduce(sumOfAmounts, zero([]));
}

function zero(names: readonly string[]): Amounts {
  return parseAmounts(Object.fromEntries(names.map((name) => [name, '0'])));
}
