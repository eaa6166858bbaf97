import { type JsonRecord, list, records, text } from '../json.js';
import type { Attributes } from './attributes.js';

/** One rule of a Role or ClusterRole; what is left out is an empty list. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

const every = '*';

export function parseRules(rules: unknown): readonly PolicyRule[] {
  return records(rules).map(parseRule);
}

function parseRule(rule: JsonRecord): PolicyRule {
  return {
    verbs: texts(rule.verbs),
    apiGroups: texts(rule.apiGroups),
    resources: texts(rule.resources),
    resourceNames: texts(rule.resourceNames),
    nonResourceURLs: texts(rule.nonResourceURLs),
  };
}

function texts(value: unknown): readonly string[] {
  return list(value).flatMap((item) => text(item) ?? []);
}

export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false;
  if (attributes.type === 'path') return rule.nonResourceURLs.some((url) => urlCovers(url, attributes.path));
  const { group, resource, subresource, name } = attributes;
  const names = rule.resourceNames;
  return (
    has(rule.apiGroups, group) &&
    hasResource(rule.resources, resource, subresource) &&
    (names.length === 0 || names.includes(name))
  );
}

/** Whether `owned` together allow all that `rule`, one of `simpleRules`, does. */
export function isCovered(owned: readonly PolicyRule[], rule: PolicyRule): boolean {
  return owned.some(
    (owner) =>
      rule.verbs.every((verb) => has(owner.verbs, verb)) &&
      rule.apiGroups.every((group) => has(owner.apiGroups, group)) &&
      rule.resources.every((resource) => {
        const [plural = '', ...rest] = resource.split('/');
        return hasResource(owner.resources, plural, rest.join('/'));
      }) &&
      (owner.resourceNames.length === 0 ||
        (rule.resourceNames.length > 0 && rule.resourceNames.every((name) => owner.resourceNames.includes(name)))) &&
      rule.nonResourceURLs.every((url) => owner.nonResourceURLs.some((own) => urlCovers(own, url))),
  );
}

/** A rule taken apart into rules of one verb, one group, one resource and at most one name each. */
export function simpleRules(rule: PolicyRule): readonly PolicyRule[] {
  const names = rule.resourceNames.length === 0 ? [undefined] : rule.resourceNames;
  const ofResources = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      names.flatMap((name) =>
        rule.verbs.map((verb) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames: name === undefined ? [] : [name],
          nonResourceURLs: [],
        })),
      ),
    ),
  );
  const ofPaths = rule.nonResourceURLs.flatMap((url) =>
    rule.verbs.map((verb) => ({
      verbs: [verb],
      apiGroups: [],
      resources: [],
      resourceNames: [],
      nonResourceURLs: [url],
    })),
  );
  return [...ofResources, ...ofPaths];
}

/** Rules as refusals show them: those of one resource joined, each on its line. */
export function formatRules(rules: readonly PolicyRule[]): string {
  const joined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const known = joined.get(key);
    joined.set(key, known === undefined ? rule : { ...known, verbs: [...new Set([...known.verbs, ...rule.verbs])] });
  }
  return [...joined.values()].map(formatRule).sort().join('\n');
}

function formatRule(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const;
  return `{${parts
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${formatTexts(values)}`)
    .join(', ')}}`;
}

/** `["a" "b"]` */
export function formatTexts(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

function has(values: readonly string[], value: string): boolean {
  return values.includes(every) || values.includes(value);
}

/** `*`, the resource itself, `pods/log`, or `*` + `/log` for that subresource of every resource. */
function hasResource(resources: readonly string[], resource: string, subresource: string): boolean {
  if (resources.includes(every)) return true;
  if (subresource === '') return resources.includes(resource);
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

function urlCovers(pattern: string, path: string): boolean {
  if (pattern === every || pattern === path) return true;
  return pattern.endsWith(every) && path.startsWith(pattern.replace(/\*+$/, ''));
}
