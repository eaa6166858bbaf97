import { deepEqual } from '@castellan/machinery';
import { forbidden, notFound } from '../errors.js';
import { type ApiObject, at } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import type { User } from '../server/http.js';
import { type Authorizer, isAdministrator } from './authorizer.js';
import { formatRules, formatTexts, isCovered, type PolicyRule, parseRules, simpleRules } from './policy-rule.js';
import { rbacGroup, roleReferenceOf } from './role-based.js';

/**
 * Nobody may give what they do not have: a role may only hold rules that its writer holds, or who may `escalate`; a
 * binding only name a role whose rules its writer holds, or may `bind`.
 */
export async function assertNoEscalation(authorizer: Authorizer, user: User, write: AdmissionWrite): Promise<void> {
  const { definition, object, current } = write;
  if (definition.group !== rbacGroup || object === undefined || isAdministrator(user)) return;
  const isBinding = definition.kind.endsWith('Binding');
  if (current !== undefined && isSameGrant(object, current)) return;
  const isAllowed = await authorizer.decide({
    type: 'resource',
    user,
    verb: isBinding ? 'bind' : 'escalate',
    group: rbacGroup,
    resource: isBinding ? `${roleReferenceOf(object).kind.toLowerCase()}s` : definition.plural,
    subresource: '',
    namespace: write.namespace ?? '',
    name: isBinding ? roleReferenceOf(object).name : write.name,
  });
  if (isAllowed.isAllowed) return;
  const granted = isBinding ? await rulesBound(authorizer, write, object) : rulesGranted(object);
  const held = await authorizer.rulesOf(user, write.namespace ?? '');
  const missing = granted.flatMap(simpleRules).filter((rule) => !isCovered(held, rule));
  if (missing.length === 0) return;
  const who = `user "${user.name}" (groups=${formatTexts(user.groups)})`;
  const problem = `${who} is attempting to grant RBAC permissions not currently held:\n${formatRules(missing)}`;
  throw forbidden(definition, write.name, problem);
}

function isSameGrant(object: ApiObject, current: ApiObject): boolean {
  return ['rules', 'aggregationRule', 'subjects', 'roleRef'].every((field) =>
    deepEqual(at(object, field), at(current, field)),
  );
}

/** An aggregated role may come to hold anything. */
function rulesGranted(role: ApiObject): readonly PolicyRule[] {
  const own = parseRules(role.rules);
  if (at(role, 'aggregationRule') === undefined) return own;
  const anything = { verbs: ['*'], resourceNames: [] };
  return [
    ...own,
    { ...anything, apiGroups: ['*'], resources: ['*'], nonResourceURLs: [] },
    { ...anything, apiGroups: [], resources: [], nonResourceURLs: ['*'] },
  ];
}

async function rulesBound(authorizer: Authorizer, write: AdmissionWrite, binding: ApiObject) {
  const reference = roleReferenceOf(binding);
  const rules = await authorizer.rulesOfRole(reference, write.namespace ?? '');
  if (rules === undefined) throw notFound(write.definition, reference.name);
  return rules;
}
