import {
  CelBudget,
  CelRecord,
  type CelValue,
  StatusError,
  type StatusReason,
  statusReasons,
} from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { type ApiObject, at, type JsonRecord, list, record, records, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import { storageKey } from '../storage/keys.js';
import type { AdmissionContext } from './admission-plugin.js';
import { admissionRequest } from './admission-request.js';
import { conditionsHold, programOf, scopeOf } from './conditions.js';
import { isMatch, type MatchRules } from './rule-match.js';

const group = 'admissionregistration.k8s.io';
/** What one expression, and all expressions of one policy, may cost for one write: the bounds of kube-apiserver. */
const unitsPerCall = 1_000_000;
const unitsPerPolicy = 10_000_000;

interface Failure {
  readonly message: string;
  readonly reason: StatusReason;
}

/** ValidatingAdmissionPolicies that are bound: each binding says what a failed validation leads to. */
export async function validateByPolicies(write: AdmissionWrite, context: AdmissionContext): Promise<void> {
  const { registry } = context.server;
  const bindings = registry.builtin(group, 'v1', 'validatingadmissionpolicybindings').store;
  await bindings.cache.reach(0);
  for (const { object: binding } of bindings.cache.list(bindings.layout.prefix)) {
    const { store } = registry.builtin(group, 'v1', 'validatingadmissionpolicies');
    const policyName = text(at(binding, 'spec', 'policyName')) ?? '';
    const policy = await store.storage.get(storageKey(store.layout, { name: policyName }));
    if (policy !== undefined) await validateByPolicy({ policy, binding }, write, context);
  }
}

interface Bound {
  readonly policy: ApiObject;
  readonly binding: ApiObject;
}

async function validateByPolicy(bound: Bound, write: AdmissionWrite, context: AdmissionContext): Promise<void> {
  const { policy, binding } = bound;
  const { server } = context;
  if (!(await isMatch(matchRules(at(policy, 'spec', 'matchConstraints')), write, server))) return;
  const narrower = at(binding, 'spec', 'matchResources');
  if (narrower !== undefined && !(await isMatch(bindingRules(narrower, policy), write, server))) return;
  const request = admissionRequest(write, context);
  const isIgnorable = at(policy, 'spec', 'failurePolicy') === 'Ignore';
  const name = `ValidatingAdmissionPolicy '${policy.metadata.name ?? ''}' with binding '${binding.metadata.name ?? ''}'`;
  const conditions = records(at(policy, 'spec', 'matchConditions'));
  if (!(await conditionsHold(conditions, request, { name, isIgnorable, write }))) return;
  const params = await paramsOf(bound, write, context);
  if (params.isPassedOver) return;
  const failures = await failuresOf(policy, { request, params: params.value, isIgnorable }, write, context);
  const actions = list(at(binding, 'spec', 'validationActions'));
  for (const { message, reason } of failures) {
    if (actions.includes('Warn')) context.warn(`Validation failed for ${name}: ${message}`);
    if (!actions.includes('Deny')) continue;
    const problem = `${name} denied request: ${message}`;
    const refusal = forbidden(write.definition, write.name, problem, [{ message: problem }]).status;
    throw new StatusError({ ...refusal, reason, code: statusReasons[reason] });
  }
}

function matchRules(match: unknown): MatchRules {
  return {
    rules: records(at(match, 'resourceRules')),
    excludedRules: records(at(match, 'excludeResourceRules')),
    namespaceSelector: at(match, 'namespaceSelector'),
    objectSelector: at(match, 'objectSelector'),
  };
}

/** A binding without rules of its own narrows by its selectors alone. */
function bindingRules(match: unknown, policy: ApiObject): MatchRules {
  const own = matchRules(match);
  return own.rules.length > 0 ? own : { ...own, rules: matchRules(at(policy, 'spec', 'matchConstraints')).rules };
}

/** The object that a binding gives to its policy as `params`. */
async function paramsOf({ policy, binding }: Bound, write: AdmissionWrite, { server }: AdmissionContext) {
  const kind = record(at(policy, 'spec', 'paramKind'));
  const reference = at(binding, 'spec', 'paramRef');
  if (kind.kind === undefined || reference === undefined) return { value: null, isPassedOver: false };
  const [version = '', paramGroup = ''] = (text(kind.apiVersion) ?? '').split('/').reverse();
  const definitions = await server.registry.definitions();
  const definition = definitions.find(
    (each) => each.group === paramGroup && each.version === version && each.kind === kind.kind,
  );
  const resource = definition === undefined ? undefined : await server.registry.find(definition);
  const name = text(at(reference, 'name')) ?? '';
  const namespace = text(at(reference, 'namespace')) ?? write.namespace ?? '';
  const found = await resource?.store.storage.get(storageKey(resource.store.layout, { namespace, name }));
  if (found !== undefined) return { value: found, isPassedOver: false };
  if (at(reference, 'parameterNotFoundAction') === 'Allow') return { value: null, isPassedOver: true };
  throw forbidden(
    write.definition,
    write.name,
    'no params found for policy binding with `Deny` parameterNotFoundAction',
  );
}

async function failuresOf(
  policy: ApiObject,
  {
    request,
    params,
    isIgnorable,
  }: { readonly request: JsonRecord; readonly params: unknown; readonly isIgnorable: boolean },
  write: AdmissionWrite,
  { server }: AdmissionContext,
): Promise<readonly Failure[]> {
  let remainingUnits = unitsPerPolicy;
  const { store } = server.registry.builtin('', 'v1', 'namespaces');
  const { namespace } = write;
  const namespaceObject =
    namespace === undefined ? null : ((await store.storage.get(storageKey(store.layout, { name: namespace }))) ?? null);
  const known = { object: request.object, oldObject: request.oldObject, request, params, namespaceObject };
  const scope = new Map<string, CelValue>(scopeOf(known));
  const variables = new Map<string, CelValue>();
  const evaluate = async (source: string) => {
    const program = await programOf(source);
    const budget = new CelBudget(Math.min(unitsPerCall, remainingUnits));
    try {
      return program.evaluate(scope, budget);
    } finally {
      remainingUnits -= budget.spent;
    }
  };
  for (const variable of records(at(policy, 'spec', 'variables'))) {
    try {
      variables.set(text(variable.name) ?? '', await evaluate(text(variable.expression) ?? ''));
    } catch {
      // It has no value: an expression that asks for it says so.
    }
    scope.set('variables', new CelRecord(variables));
  }
  const failures: Failure[] = [];
  for (const validation of records(at(policy, 'spec', 'validations'))) {
    const source = text(validation.expression) ?? '';
    const reason = reasonOf(validation.reason);
    try {
      if ((await evaluate(source)) === true) continue;
      failures.push({ message: await messageOf(validation, source, evaluate), reason });
    } catch (error) {
      if (isIgnorable) continue;
      const problem = error instanceof Error ? error.message : String(error);
      failures.push({ message: `expression '${source}' resulted in error: ${problem}`, reason });
    }
  }
  return failures;
}

async function messageOf(
  validation: JsonRecord,
  source: string,
  evaluate: (source: string) => Promise<CelValue>,
): Promise<string> {
  const expression = text(validation.messageExpression) ?? '';
  if (expression !== '') {
    const message = await evaluate(expression).catch(() => undefined);
    if (typeof message === 'string' && message.trim() !== '') return message;
  }
  return text(validation.message) || `failed expression: ${source.trim()}`;
}

function reasonOf(reason: unknown): StatusReason {
  switch (reason) {
    case 'Unauthorized':
    case 'Forbidden':
    case 'RequestEntityTooLarge':
      return reason;
    default:
      return 'Invalid';
  }
}
