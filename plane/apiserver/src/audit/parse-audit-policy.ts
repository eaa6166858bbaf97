import { dns1123SubdomainErrors } from '@castellan/machinery';
import { parse } from 'yaml';
import { isRecord, type JsonRecord, list, record, records, text } from '../json.js';
import {
  type AuditedResources,
  type AuditPolicy,
  type AuditRule,
  type AuditStage,
  auditLevels,
  auditStages,
} from './audit-policy.js';
import { AuditPolicyError } from './audit-policy-error.js';

const apiVersion = 'audit.k8s.io/v1';
const policyFields = ['apiVersion', 'kind', 'metadata', 'omitManagedFields', 'omitStages', 'rules'];
const ruleFields = [
  ...['level', 'namespaces', 'nonResourceURLs', 'omitManagedFields', 'omitStages', 'resources', 'userGroups'],
  ...['users', 'verbs'],
];
const resourceFields = ['group', 'resourceNames', 'resources'];

/**
 * Reads an audit policy (YAML or JSON), the file of kube-apiserver's `--audit-policy-file`, and refuses what
 * kube-apiserver refuses, and fields that it would pass over.
 * Source: kubernetes.io, "Auditing"; audit.k8s.io/v1 Policy.
 *
 * @throws AuditPolicyError
 */
export function parseAuditPolicy(source: string): AuditPolicy {
  const file = documentOf(source);
  const problems: string[] = [];
  if (file.apiVersion !== apiVersion || file.kind !== 'Policy')
    problems.push(`it is not apiVersion ${apiVersion}, kind Policy`);
  problems.push(...unknownFields(file, '', policyFields));
  const common = {
    stages: stagesOf(file.omitStages, 'omitStages', problems),
    omitsManagedFields: file.omitManagedFields === true,
  };
  if (list(file.rules).length === 0) problems.push('rules: Required value: a policy has one rule at least');
  const rules = list(file.rules).map((rule, index) => ruleOf(rule, `rules[${index}]`, { common, problems }));
  if (problems.length > 0) throw new AuditPolicyError(problems.join('\n'));
  return { rules };
}

function documentOf(source: string): JsonRecord {
  try {
    return record(parse(source));
  } catch (error) {
    throw new AuditPolicyError(`it is not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface Reading {
  readonly common: { readonly stages: readonly AuditStage[]; readonly omitsManagedFields: boolean };
  readonly problems: string[];
}

function ruleOf(value: unknown, path: string, { common, problems }: Reading): AuditRule {
  const rule = record(value);
  if (!isRecord(value)) problems.push(`${path}: Invalid value: ${JSON.stringify(value)}: not a rule`);
  problems.push(...unknownFields(rule, `${path}.`, ruleFields));
  const level = auditLevels.find((known) => known === rule.level);
  if (rule.level === undefined) problems.push(`${path}.level: Required value`);
  else if (level === undefined) problems.push(`${path}.level: ${unsupported(rule.level, auditLevels)}`);
  const own = stagesOf(rule.omitStages, `${path}.omitStages`, problems);
  const texts = (field: string) => textsOf(rule[field], `${path}.${field}`, problems);
  const namespaces = texts('namespaces');
  const nonResourceURLs = texts('nonResourceURLs');
  problems.push(...urlProblems(nonResourceURLs, `${path}.nonResourceURLs`));
  const resources = records(rule.resources).map((each, index) =>
    resourcesOf(each, `${path}.resources[${index}]`, problems),
  );
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    const both = 'rules cannot apply to both regular resources and non-resource URLs';
    problems.push(`${path}.nonResourceURLs: Invalid value: ${JSON.stringify(nonResourceURLs)}: ${both}`);
  }
  return {
    level: level ?? 'None',
    omittedStages: new Set([...common.stages, ...own]),
    omitsManagedFields:
      typeof rule.omitManagedFields === 'boolean' ? rule.omitManagedFields : common.omitsManagedFields,
    ...{ users: texts('users'), userGroups: texts('userGroups'), verbs: texts('verbs') },
    ...{ resources, namespaces, nonResourceURLs },
  };
}

function resourcesOf(named: JsonRecord, path: string, problems: string[]): AuditedResources {
  problems.push(...unknownFields(named, `${path}.`, resourceFields));
  const group = text(named.group) ?? '';
  const resources = textsOf(named.resources, `${path}.resources`, problems);
  const resourceNames = textsOf(named.resourceNames, `${path}.resourceNames`, problems);
  if (group !== '' && dns1123SubdomainErrors(group).length > 0) {
    const meant = 'a group is named without its version, as in apps or rbac.authorization.k8s.io';
    problems.push(`${path}.group: Invalid value: ${JSON.stringify(group)}: ${meant}`);
  }
  if (resourceNames.length > 0 && resources.length === 0) {
    const missing = 'using resourceNames requires at least one resource';
    problems.push(`${path}.resourceNames: Invalid value: ${JSON.stringify(resourceNames)}: ${missing}`);
  }
  return { group, resources, resourceNames };
}

function urlProblems(urls: readonly string[], path: string): readonly string[] {
  return urls.flatMap((url, index) => {
    if (url === '*') return [];
    const invalid = (why: string) => `${path}[${index}]: Invalid value: ${JSON.stringify(url)}: ${why}`;
    return [
      ...(url.startsWith('/') ? [] : [invalid("non-resource URL rules must begin with a '/' character")]),
      ...(url.slice(0, -1).includes('*')
        ? [invalid("non-resource URL wildcards '*' must be the final character of the rule")]
        : []),
    ];
  });
}

function stagesOf(value: unknown, path: string, problems: string[]): readonly AuditStage[] {
  return textsOf(value, path, problems).flatMap((name, index) => {
    const stage = auditStages.find((known) => known === name);
    if (stage === undefined) problems.push(`${path}[${index}]: ${unsupported(name, auditStages)}`);
    return stage ?? [];
  });
}

function textsOf(value: unknown, path: string, problems: string[]): readonly string[] {
  if (value === undefined || value === null) return [];
  const texts = list(value).flatMap((each) => text(each) ?? []);
  if (!Array.isArray(value) || texts.length < value.length)
    problems.push(`${path}: Invalid value: ${JSON.stringify(value)}: not a list of texts`);
  return texts;
}

function unsupported(value: unknown, supported: readonly string[]): string {
  const known = supported.map((each) => JSON.stringify(each)).join(', ');
  return `Unsupported value: ${JSON.stringify(value)}: supported values: ${known}`;
}

function unknownFields(value: JsonRecord, prefix: string, known: readonly string[]): readonly string[] {
  return Object.keys(value).flatMap((field) =>
    known.includes(field) ? [] : [`unknown field ${JSON.stringify(prefix + field)}`],
  );
}
