import {
  CelCompileError,
  type CelEngine,
  type CelVariable,
  deepEqual,
  type FieldError,
  fieldError,
  invalidError,
  loadCelEngine,
} from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, records, text } from '../json.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import { patchMessages } from './mutation.js';

const group = 'admissionregistration.k8s.io';
const webhookKinds: readonly string[] = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
const policyKinds: readonly string[] = ['validatingadmissionpolicies', 'mutatingadmissionpolicies'];
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

type Variables = Readonly<Record<string, CelVariable>>;

const dynamic: CelVariable = { type: { kind: 'scalar', name: 'dyn' } };
const requestVariables: Variables = { object: dynamic, oldObject: dynamic, request: dynamic, authorizer: dynamic };

/**
 * Expressions of policies and webhooks must compile: a mistake is told to who writes it, not to who is judged by it. It
 * is admission because compiling needs the engine, which loads when the first expression comes.
 */
export const expressionCheck: AdmissionPlugin = {
  handles: ({ definition, operation, subresource }) =>
    definition.group === group &&
    operation !== 'DELETE' &&
    subresource === '' &&
    (policyKinds.includes(definition.plural) || webhookKinds.includes(definition.plural)),
  async validate({ definition, object, current, name }) {
    if (object === undefined || isUnchanged(object, current)) return;
    const engine = await loadCelEngine();
    const errors = policyKinds.includes(definition.plural)
      ? policyErrors(object, engine)
      : records(object.webhooks).flatMap((webhook, index) =>
          conditionErrors(webhook, `webhooks[${index}]`, { engine, variables: requestVariables }),
        );
    if (errors.length > 0) throw invalidError(definition, name, errors);
  },
};

interface Environment {
  readonly engine: CelEngine;
  readonly variables: Variables;
  /** The types of which the expression may write messages. */
  readonly messages?: readonly string[];
}

function isUnchanged(object: ApiObject, current: ApiObject | undefined): boolean {
  return current !== undefined && deepEqual([object.spec, object.webhooks], [current.spec, current.webhooks]);
}

function policyErrors(policy: ApiObject, engine: CelEngine): readonly FieldError[] {
  const spec = at(policy, 'spec');
  const hasParams = at(spec, 'paramKind') != null;
  const known = { ...requestVariables, namespaceObject: dynamic, ...(hasParams ? { params: dynamic } : {}) };
  const errors: FieldError[] = [];
  const fields = new Map<string, CelVariable['type']>();
  const environment = (): Environment => ({
    engine,
    variables: { ...known, variables: { type: { kind: 'object', fields: new Map(fields) } } },
  });
  records(at(spec, 'variables')).forEach((variable, index) => {
    const path = `spec.variables[${index}]`;
    const name = text(variable.name) ?? '';
    if (name === '') errors.push(fieldError.required(`${path}.name`, 'name is not specified'));
    else if (!identifier.test(name)) {
      errors.push(fieldError.invalid(`${path}.name`, name, 'name is not a valid CEL identifier'));
    }
    errors.push(...expressionErrors(variable, `${path}.expression`, [], environment()));
    if (identifier.test(name)) fields.set(name, dynamic.type);
  });
  const all = environment();
  errors.push(...conditionErrors({ matchConditions: at(spec, 'matchConditions') }, 'spec', all));
  records(at(spec, 'validations')).forEach((validation, index) => {
    const path = `spec.validations[${index}]`;
    errors.push(...expressionErrors(validation, `${path}.expression`, ['bool'], all));
    if ((text(validation.messageExpression) ?? '') === '') return;
    errors.push(...expressionErrors(validation, `${path}.messageExpression`, ['string'], all));
  });
  records(at(spec, 'auditAnnotations')).forEach((annotation, index) => {
    const path = `spec.auditAnnotations[${index}].valueExpression`;
    errors.push(...expressionErrors(annotation, path, ['string', 'null_type'], all));
  });
  records(at(spec, 'mutations')).forEach((mutation, index) => {
    const path = `spec.mutations[${index}]`;
    const { applyConfiguration, jsonPatch } = mutation;
    if (applyConfiguration != null) {
      const messages = patchMessages.ApplyConfiguration;
      const owner = record(applyConfiguration);
      errors.push(...expressionErrors(owner, `${path}.applyConfiguration.expression`, [], { ...all, messages }));
    }
    if (jsonPatch != null) {
      const messages = patchMessages.JSONPatch;
      errors.push(
        ...expressionErrors(record(jsonPatch), `${path}.jsonPatch.expression`, ['list'], { ...all, messages }),
      );
    }
  });
  return errors;
}

function conditionErrors(owner: JsonRecord, path: string, environment: Environment): readonly FieldError[] {
  return records(owner.matchConditions).flatMap((condition, index) =>
    expressionErrors(condition, `${path}.matchConditions[${index}].expression`, ['bool'], environment),
  );
}

/** `path` ends in the field that holds the expression. `types`: what it may evaluate to; anything where none is named. */
function expressionErrors(
  owner: JsonRecord,
  path: string,
  types: readonly string[],
  { engine, variables, messages = [] }: Environment,
): readonly FieldError[] {
  const field = path.slice(path.lastIndexOf('.') + 1);
  const source = (text(owner[field]) ?? '').trim();
  if (source === '') {
    const isCondition = path.includes('matchConditions');
    return [fieldError.required(path, isCondition ? undefined : `${field} is not specified`)];
  }
  try {
    const { resultType } = engine.compile(source, variables, messages);
    const found = resultType === 'null' ? 'null_type' : resultType.replace(/<.*/, '');
    if (types.length === 0 || found === 'dyn' || types.includes(found)) return [];
    const [only] = types;
    const wanted = types.length === 1 ? only : `one of [${types.join(' ')}]`;
    return [fieldError.invalid(path, owner[field], `must evaluate to ${wanted}`)];
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    return [fieldError.invalid(path, owner[field], `compilation failed: ${error.message}`)];
  }
}
