import { type FieldError, fieldError, qualifiedNameErrors } from '@castellan/machinery';
import { type JsonRecord, list, record, records, text } from '../json.js';
import { selectorErrors } from './label-selector.js';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];
const matchPolicies = ['Equivalent', 'Exact'];
const mostConditions = 64;

export function oneOf(path: string, value: unknown, supported: readonly string[]): readonly FieldError[] {
  return supported.includes(String(value)) ? [] : [fieldError.notSupported(path, value, supported)];
}

/** What webhooks and policies say alike of the writes that they want to see: how versions match, and by which labels. */
export function matchErrors(owner: JsonRecord, path: string): readonly FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector } = owner;
  return [
    ...(matchPolicy === undefined ? [] : oneOf(`${path}.matchPolicy`, matchPolicy, matchPolicies)),
    ...selectorErrors(namespaceSelector, `${path}.namespaceSelector`),
    ...selectorErrors(objectSelector, `${path}.objectSelector`),
  ];
}

/** A policy's `matchConstraints`, or a binding's `matchResources`. */
export function matchResourcesErrors(match: unknown, path: string): readonly FieldError[] {
  const owner = record(match);
  const rules = (field: string) =>
    records(owner[field]).flatMap((rule, index) => {
      const at = `${path}.${field}[${index}]`;
      const names = list(rule.resourceNames);
      return [
        ...ruleErrors(rule, at),
        ...names.flatMap((name, each) =>
          names.indexOf(name) < each ? [fieldError.duplicate(`${at}.resourceNames[${each}]`, name)] : [],
        ),
      ];
    });
  return [...matchErrors(owner, path), ...rules('resourceRules'), ...rules('excludeResourceRules')];
}

/** Which operations on which resources. */
export function ruleErrors(rule: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...wildcardErrors(rule.operations, `${path}.operations`, 'operations'),
    ...list(rule.operations).flatMap((each, index) => oneOf(`${path}.operations[${index}]`, each, operations)),
    ...wildcardErrors(rule.apiGroups, `${path}.apiGroups`, 'API groups'),
    ...wildcardErrors(rule.apiVersions, `${path}.apiVersions`, 'API versions'),
    ...list(rule.apiVersions).flatMap((each, index) =>
      each === '' ? [fieldError.required(`${path}.apiVersions[${index}]`)] : [],
    ),
    ...resourceErrors(list(rule.resources).map(String), `${path}.resources`),
    ...(rule.scope === undefined ? [] : oneOf(`${path}.scope`, rule.scope, scopes)),
  ];
}

function wildcardErrors(value: unknown, path: string, what: string): readonly FieldError[] {
  const values = list(value);
  if (values.length === 0) return [fieldError.required(path)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [fieldError.invalid(path, values, `if '*' is present, must not specify other ${what}`)];
}

function resourceErrors(resources: readonly string[], path: string): readonly FieldError[] {
  if (resources.length === 0) return [fieldError.required(path)];
  const errors: FieldError[] = [];
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  resources.forEach((each, index) => {
    const at = `${path}[${index}]`;
    if (each === '') errors.push(fieldError.required(at));
    const slash = each.indexOf('/');
    if (slash < 0) return;
    const [resource, subresource] = [each.slice(0, slash), each.slice(slash + 1)];
    const covered = (by: string) =>
      errors.push(fieldError.invalid(at, each, `if '${by}' is present, must not specify ${each}`));
    if (wholeResources.has(resource)) covered(`${resource}/*`);
    if (wholeSubresources.has(subresource)) covered(`*/${subresource}`);
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  });
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(fieldError.invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && resources.some((each) => each !== '*' && !each.includes('/'))) {
    const rule = "if '*' is present, must not specify other resources without subresources";
    errors.push(fieldError.invalid(path, resources, rule));
  }
  return errors;
}

/** Names of match conditions. Their expressions are looked at where they are compiled: admission/expression-check.ts. */
export function conditionNameErrors(owner: JsonRecord, path: string): readonly FieldError[] {
  const names = records(owner.matchConditions).map(({ name }) => text(name) ?? '');
  return [
    ...(names.length > mostConditions
      ? [fieldError.tooMany(`${path}.matchConditions`, names.length, mostConditions)]
      : []),
    ...names.flatMap((name, index) => {
      const at = `${path}.matchConditions[${index}].name`;
      if (name === '') return [fieldError.required(at)];
      return [
        ...qualifiedNameErrors(name).map((problem) => fieldError.invalid(at, name, problem)),
        ...(names.indexOf(name) < index ? [fieldError.duplicate(at, name)] : []),
      ];
    }),
  ];
}
