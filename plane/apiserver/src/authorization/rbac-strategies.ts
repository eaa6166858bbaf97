import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, list, records, text, withAt } from '../json.js';
import { pathSegmentProblems, subdomainErrors } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { isReadable, selectorErrors } from '../strategies/label-selector.js';
import { parseRules } from './policy-rule.js';
import { rbacGroup } from './role-based.js';

const subjectKinds: readonly string[] = ['ServiceAccount', 'User', 'Group'];

export const roleStrategy: Strategy = {
  withDefaults: withRules,
  prepareForCreate: withoutEmptyRules,
  prepareForUpdate: withoutEmptyRules,
  validate: (role) => ruleErrors(role, true),
  nameProblems: pathSegmentProblems,
};

export const clusterRoleStrategy: Strategy = {
  withDefaults: withRules,
  prepareForCreate: withoutEmptyRules,
  prepareForUpdate: withoutEmptyRules,
  validate: (role) => [...ruleErrors(role, false), ...aggregationErrors(role.aggregationRule, 'aggregationRule')],
  nameProblems: pathSegmentProblems,
};

/** A role has rules, be they null. */
function withRules(role: ApiObject): ApiObject {
  return role.rules === undefined ? { ...role, rules: null } : role;
}

/** Empty rules are stored as null, as by Go; who sent them owns them none the less. */
function withoutEmptyRules(role: ApiObject): ApiObject {
  return list(role.rules).length === 0 ? { ...role, rules: null } : role;
}

function ruleErrors(role: ApiObject, isNamespaced: boolean): readonly FieldError[] {
  return parseRules(role.rules).flatMap((rule, index) => {
    const path = `rules[${index}]`;
    const errors: FieldError[] = [];
    if (rule.verbs.length === 0) {
      errors.push(fieldError.required(`${path}.verbs`, 'verbs must contain at least one value'));
    }
    if (rule.nonResourceURLs.length > 0) {
      const field = `${path}.nonResourceURLs`;
      if (isNamespaced) {
        errors.push(
          fieldError.invalid(field, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'),
        );
      }
      const hasResources = [rule.apiGroups, rule.resources, rule.resourceNames].some((values) => values.length > 0);
      if (hasResources) {
        const problem = 'rules cannot apply to both regular resources and non-resource URLs';
        errors.push(fieldError.invalid(field, rule.nonResourceURLs, problem));
      }
      return errors;
    }
    if (rule.apiGroups.length === 0) {
      errors.push(fieldError.required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    }
    if (rule.resources.length === 0) {
      errors.push(fieldError.required(`${path}.resources`, 'resource rules must supply at least one resource'));
    }
    return errors;
  });
}

/** Which roles make up a role that is the sum of others. */
function aggregationErrors(rule: unknown, path: string): readonly FieldError[] {
  if (rule === undefined) return [];
  const selectors = records(at(rule, 'clusterRoleSelectors'));
  const own = `${path}.clusterRoleSelectors`;
  const needed = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  return [
    ...(selectors.length === 0 ? [fieldError.required(own, needed)] : []),
    ...selectors.flatMap((selector, index) => [
      ...selectorErrors(selector, `${own}[${index}]`),
      ...(isReadable(selector) ? [] : [fieldError.invalid(`${own}[${index}]`, selector, 'invalid label selector.')]),
    ]),
  ];
}

export const roleBindingStrategy = bindingStrategy(['Role', 'ClusterRole']);
export const clusterRoleBindingStrategy = bindingStrategy(['ClusterRole']);

function bindingStrategy(roleKinds: readonly string[]): Strategy {
  return {
    withDefaults: withApiGroups,
    validate: (binding) => bindingErrors(binding, roleKinds),
    validateUpdate(binding, current) {
      const isSame = deepEqual(binding.roleRef, current.roleRef);
      return isSame ? [] : [fieldError.invalid('roleRef', binding.roleRef, 'cannot change roleRef')];
    },
    nameProblems: pathSegmentProblems,
  };
}

function withApiGroups(binding: ApiObject): ApiObject {
  const roleRef = text(at(binding, 'roleRef', 'apiGroup'))
    ? binding.roleRef
    : withAt(binding.roleRef, ['apiGroup'], rbacGroup);
  if (!Array.isArray(binding.subjects)) return { ...binding, roleRef };
  const subjects = records(binding.subjects).map((subject) => {
    const needsGroup = (subject.kind === 'User' || subject.kind === 'Group') && !text(subject.apiGroup);
    return needsGroup ? { ...subject, apiGroup: rbacGroup } : subject;
  });
  return { ...binding, roleRef, subjects };
}

function bindingErrors(binding: ApiObject, roleKinds: readonly string[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const group = text(at(binding, 'roleRef', 'apiGroup')) ?? '';
  const kind = text(at(binding, 'roleRef', 'kind')) ?? '';
  if (group !== rbacGroup) errors.push(fieldError.notSupported('roleRef.apiGroup', group, [rbacGroup]));
  if (!roleKinds.includes(kind)) errors.push(fieldError.notSupported('roleRef.kind', kind, roleKinds));
  const roleName = text(at(binding, 'roleRef', 'name')) ?? '';
  if (roleName === '') errors.push(fieldError.required('roleRef.name', ''));
  for (const problem of pathSegmentProblems(roleName))
    errors.push(fieldError.invalid('roleRef.name', roleName, problem));
  for (const [index, subject] of records(binding.subjects).entries()) {
    const path = `subjects[${index}]`;
    const subjectKind = text(subject.kind) ?? '';
    if (!text(subject.name)) errors.push(fieldError.required(`${path}.name`, ''));
    if (subjectKind === 'ServiceAccount') errors.push(...accountErrors(subject, path, !roleKinds.includes('Role')));
    if (!subjectKinds.includes(subjectKind)) {
      errors.push(fieldError.notSupported(`${path}.kind`, subjectKind, subjectKinds));
      continue;
    }
    const expected = subjectKind === 'ServiceAccount' ? '' : rbacGroup;
    const sent = text(subject.apiGroup) ?? '';
    if (sent !== expected) errors.push(fieldError.notSupported(`${path}.apiGroup`, sent, [expected]));
  }
  return errors;
}

/** An account is somewhere; where a binding is for the whole cluster it must say where. */
function accountErrors(subject: JsonRecord, path: string, isForCluster: boolean): readonly FieldError[] {
  return [
    ...(text(subject.name) ? subdomainErrors(subject.name, `${path}.name`) : []),
    ...(isForCluster && !text(subject.namespace) ? [fieldError.required(`${path}.namespace`)] : []),
  ];
}
