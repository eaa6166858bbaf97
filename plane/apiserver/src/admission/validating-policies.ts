import { CelEvaluationError, StatusError, type StatusReason, statusReasons } from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { at, type JsonRecord, list, records, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import { AccessQuestions } from './access-questions.js';
import type { AdmissionContext } from './admission-plugin.js';
import { admissionRequest } from './admission-request.js';
import { conditionsProblem } from './conditions.js';
import { equivalentWrite } from './equivalent-write.js';
import { type Bound, boundDefinition, boundPolicies, namespaceOf } from './policy-bindings.js';
import { PolicyExpressions, PolicyProblem } from './policy-expressions.js';
import { BindingProblem, paramsOf } from './policy-params.js';

const failureAnnotation = 'validation.policy.admission.k8s.io/validation_failure';
const longestMessageBytes = 5 * 1024;
const longestAnnotationBytes = 10 * 1024;

interface Failure {
  readonly message: string;
  readonly reason: StatusReason;
}

/**
 * ValidatingAdmissionPolicies that are bound: each binding says what a failed validation leads to. All are asked, so
 * that all warnings are told; the first refusal counts.
 */
export async function validateByPolicies(write: AdmissionWrite, context: AdmissionContext): Promise<void> {
  let refusal: StatusError | undefined;
  for (const bound of await boundPolicies('validating', context.server)) {
    const [first] = await refusalsOf(bound, write, context);
    refusal ??= first;
  }
  if (refusal !== undefined) throw refusal;
}

async function refusalsOf(
  bound: Bound,
  requested: AdmissionWrite,
  context: AdmissionContext,
): Promise<readonly StatusError[]> {
  const { policy, binding } = bound;
  const definition = await boundDefinition(bound, requested, context.server);
  if (definition === undefined) return [];
  const write = await equivalentWrite(requested, definition);
  const name = `ValidatingAdmissionPolicy '${policy.metadata.name ?? ''}' with binding '${binding.metadata.name ?? ''}'`;
  const failures = await failuresOf(bound, write, context);
  const actions = list(at(binding, 'spec', 'validationActions'));
  if (actions.includes('Warn')) {
    for (const { message } of failures) context.warn(`Validation failed for ${name}: ${message}`);
  }
  if (actions.includes('Audit') && failures.length > 0) {
    const told = failures.map(({ message }, index) => ({
      message,
      policy: policy.metadata.name,
      binding: binding.metadata.name,
      expressionIndex: index,
      validationActions: actions,
    }));
    context.annotate(failureAnnotation, JSON.stringify(told));
  }
  if (!actions.includes('Deny')) return [];
  return failures.map(({ message, reason }) => {
    const problem = `${name} denied request: ${message}`;
    const refusal = forbidden(requested.definition, requested.name, problem, [{ message: problem }]).status;
    return new StatusError({ ...refusal, reason, code: statusReasons[reason] });
  });
}

/** What the policy finds, once with each of its parameters. What cannot be judged is a failure, or is passed over. */
async function failuresOf(bound: Bound, write: AdmissionWrite, context: AdmissionContext): Promise<readonly Failure[]> {
  const isIgnorable = at(bound.policy, 'spec', 'failurePolicy') === 'Ignore';
  const request = admissionRequest(write, context);
  const namespaceObject = await namespaceOf(write, context.server);
  try {
    const failures: Failure[] = [];
    for (const params of await paramsOf(bound, write.namespace, context.server)) {
      const { object, oldObject } = request;
      const known = { object, oldObject, request, params: params ?? null, namespaceObject };
      failures.push(...(await judged(bound, { known, isIgnorable, write }, context)));
    }
    return failures;
  } catch (error) {
    if (!(error instanceof BindingProblem)) throw error;
    return isIgnorable ? [] : [invalid(`failed to configure binding: ${error.message}`)];
  }
}

async function judged(
  { policy }: Bound,
  {
    known,
    isIgnorable,
    write,
  }: { readonly known: JsonRecord; readonly isIgnorable: boolean; readonly write: AdmissionWrite },
  context: AdmissionContext,
): Promise<readonly Failure[]> {
  const questions = new AccessQuestions(write, context);
  const conditions = await conditionsProblem(records(at(policy, 'spec', 'matchConditions')), known, questions);
  if (conditions === 'unmet') return [];
  if (conditions !== undefined) return isIgnorable ? [] : [invalid(conditions.problem)];
  const expressions = new PolicyExpressions(policy, known, questions);
  const failures: Failure[] = [];
  const noteProblem = (error: unknown) => {
    if (!(error instanceof PolicyProblem)) throw error;
    if (!isIgnorable) failures.push(invalid(error.message));
  };
  for (const validation of records(at(policy, 'spec', 'validations'))) {
    const source = text(validation.expression) ?? '';
    try {
      if ((await expressions.evaluate(source)) === true) continue;
      failures.push({ message: await messageOf(validation, expressions), reason: reasonOf(validation.reason) });
    } catch (error) {
      noteProblem(error);
    }
  }
  for (const { key, valueExpression } of records(at(policy, 'spec', 'auditAnnotations'))) {
    try {
      const value = await expressions.evaluate(text(valueExpression) ?? '');
      if (typeof value !== 'string' || value.trim() === '') continue;
      const shown = Buffer.from(value.trim()).subarray(0, longestAnnotationBytes).toString('utf8');
      context.annotate(`${policy.metadata.name ?? ''}/${text(key) ?? ''}`, shown);
    } catch (error) {
      noteProblem(error);
    }
  }
  return failures;
}

/** Why a validation failed: what its message expression says, if that is one line of a fitting length. */
async function messageOf(validation: JsonRecord, expressions: PolicyExpressions): Promise<string> {
  const source = text(validation.messageExpression) ?? '';
  if (source !== '') {
    const value = await expressions.evaluate(source).catch((error: unknown) => {
      if (error instanceof PolicyProblem || error instanceof CelEvaluationError) return undefined;
      throw error;
    });
    const message = typeof value === 'string' ? value.trim() : '';
    if (message !== '' && !message.includes('\n') && Buffer.byteLength(message) <= longestMessageBytes) return message;
  }
  const told = (text(validation.message) ?? '').trim();
  return told || `failed expression: ${(text(validation.expression) ?? '').trim()}`;
}

function invalid(message: string): Failure {
  return { message, reason: 'Invalid' };
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
