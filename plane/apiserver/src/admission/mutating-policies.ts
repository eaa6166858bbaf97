import { deepEqual, type StatusCause, StatusError } from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { type ApiObject, at, records } from '../json.js';
import type { AdmissionChange } from '../registry/admission-control.js';
import { AccessQuestions } from './access-questions.js';
import type { AdmissionContext } from './admission-plugin.js';
import { admissionRequest } from './admission-request.js';
import { conditionsProblem } from './conditions.js';
import { converted, equivalentWrite } from './equivalent-write.js';
import { mutated } from './mutation.js';
import { type Bound, boundDefinition, boundPolicies, namespaceOf } from './policy-bindings.js';
import { PolicyExpressions, PolicyProblem } from './policy-expressions.js';
import { BindingProblem, paramsOf } from './policy-params.js';
import { Reinvocation } from './reinvocation.js';

/** A policy under a binding with one of its parameters. */
interface Invocation extends Bound {
  readonly params: ApiObject | undefined;
}

/** MutatingAdmissionPolicies that are bound, for one write: each changes what those before it have left. */
export class MutatingPolicies {
  readonly reinvocation = new Reinvocation<string>();
  private readonly context: AdmissionContext;

  constructor(context: AdmissionContext) {
    this.context = context;
  }

  /** @throws StatusError 403 for a policy that cannot be carried out, unless it is to be passed over then */
  async mutate(write: AdmissionChange): Promise<ApiObject> {
    let { object } = write;
    const problems: string[] = [];
    for (const bound of await boundPolicies('mutating', this.context.server)) {
      const { policy, binding } = bound;
      const isIgnorable = at(policy, 'spec', 'failurePolicy') === 'Ignore';
      try {
        for (const params of await this.paramsFor(bound, { ...write, object })) {
          object = await this.invoke({ ...bound, params }, { ...write, object });
        }
      } catch (error) {
        if (!(error instanceof PolicyProblem)) throw error;
        const who = `policy '${policy.metadata.name ?? ''}' with binding '${binding.metadata.name ?? ''}'`;
        if (!isIgnorable) problems.push(`${who} denied request: ${error.message}`);
      }
    }
    if (problems.length > 0) throw refusal(write, problems);
    return object;
  }

  private async paramsFor(bound: Bound, write: AdmissionChange): Promise<readonly (ApiObject | undefined)[]> {
    if ((await boundDefinition(bound, write, this.context.server)) === undefined) return [];
    try {
      return await paramsOf(bound, write.namespace, this.context.server);
    } catch (error) {
      if (!(error instanceof BindingProblem)) throw error;
      throw new PolicyProblem(`failed to configure binding: ${error.message}`);
    }
  }

  private async invoke(invocation: Invocation, write: AdmissionChange): Promise<ApiObject> {
    const { policy, binding, params } = invocation;
    const definition = await boundDefinition(invocation, write, this.context.server);
    if (definition === undefined) return write.object;
    const shown = await equivalentWrite(write, definition);
    if (!(await this.isConcerned(invocation, shown))) return write.object;
    const key = [policy, binding, params].map((each) => JSON.stringify(each?.metadata.uid)).join();
    if (!this.reinvocation.isAsked(key)) return write.object;
    let object = shown.object;
    for (const mutation of records(at(policy, 'spec', 'mutations'))) {
      const { expressions } = await this.evaluation(invocation, { ...shown, object });
      object = await mutated(object, mutation, { definition, expressions });
    }
    const isChanged = !deepEqual(object, shown.object);
    this.reinvocation.note(key, { isChanged, policy: at(policy, 'spec', 'reinvocationPolicy') });
    return isChanged ? await converted(object, definition, write.definition) : write.object;
  }

  /** Whether the policy's match conditions hold. */
  private async isConcerned(invocation: Invocation, write: AdmissionChange): Promise<boolean> {
    const conditions = records(at(invocation.policy, 'spec', 'matchConditions'));
    if (conditions.length === 0) return true;
    const { known, questions } = await this.evaluation(invocation, write);
    const verdict = await conditionsProblem(conditions, known, questions);
    if (verdict === undefined || verdict === 'unmet') return verdict === undefined;
    throw new PolicyProblem(verdict.problem);
  }

  private async evaluation({ policy, params }: Invocation, write: AdmissionChange) {
    const request = admissionRequest(write, this.context);
    const namespaceObject = await namespaceOf(write, this.context.server);
    const { object, oldObject } = request;
    const known = { object, oldObject, request, params: params ?? null, namespaceObject };
    const questions = new AccessQuestions(write, this.context);
    return { known, questions, expressions: new PolicyExpressions(policy, known, questions) };
  }
}

/** A 403, as kube-apiserver has it, that gives `Invalid` as its reason. */
function refusal({ definition, name }: AdmissionChange, problems: readonly string[]): StatusError {
  const causes: readonly StatusCause[] = problems.map((message) => ({ message }));
  const { status } = forbidden(definition, name, '', causes);
  return new StatusError({ ...status, message: problems[0] ?? '', reason: 'Invalid' });
}
