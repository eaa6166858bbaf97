import {
  applyJsonPatch,
  CelEvaluationError,
  CelMessage,
  type CelValue,
  ConfigurationError,
  FailedTestError,
  jsonOfCel,
  mergeConfiguration,
  messageTypeProblem,
  StatusError,
} from '@castellan/machinery';
import { type ApiObject, asApiObject, at, isRecord, type JsonRecord, list, record, text } from '../json.js';
import { applyTypesFor } from '../registry/field-ownership.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { type PolicyExpressions, PolicyProblem } from './policy-expressions.js';

/** The types of which each kind of patch is written. */
export const patchMessages = { ApplyConfiguration: ['Object'], JSONPatch: ['Object', 'JSONPatch'] } as const;

interface MutationTools {
  readonly definition: ResourceDefinition;
  readonly expressions: PolicyExpressions;
}

/** The object after one of a policy's mutations, with the defaults of what it sets. @throws PolicyProblem */
export async function mutated(object: ApiObject, mutation: JsonRecord, tools: MutationTools): Promise<ApiObject> {
  const { definition } = tools;
  const next =
    mutation.patchType === 'JSONPatch'
      ? await withJsonPatch(object, mutation, tools)
      : await withConfiguration(object, mutation, tools);
  return definition.strategy.withDefaults?.(next) ?? next;
}

async function withConfiguration(
  object: ApiObject,
  mutation: JsonRecord,
  { definition, expressions }: MutationTools,
): Promise<ApiObject> {
  const source = text(at(mutation, 'applyConfiguration', 'expression')) ?? '';
  const value = await expressions.evaluate(source, patchMessages.ApplyConfiguration);
  if (!(value instanceof CelMessage)) throw new PolicyProblem('must evaluate to Object');
  assertTypes(value, 'Object');
  const { apiVersion, kind } = object;
  try {
    const configuration = { ...record(jsonOf(value)), apiVersion, kind };
    return asApiObject(mergeConfiguration(object, configuration, await applyTypesFor(definition)));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new PolicyProblem(`error applying patch: ${error.message}`);
  }
}

async function withJsonPatch(
  object: ApiObject,
  mutation: JsonRecord,
  { expressions }: MutationTools,
): Promise<ApiObject> {
  const source = text(at(mutation, 'jsonPatch', 'expression')) ?? '';
  const value = await expressions.evaluate(source, patchMessages.JSONPatch);
  if (!Array.isArray(value))
    throw new PolicyProblem('type mismatch: JSONPatchType.expression should evaluate to array');
  const operations = list(value).map(operationOf);
  try {
    const patched = applyJsonPatch(object, operations);
    if (!isRecord(patched)) throw new PolicyProblem('JSONPath: the patch leaves no object');
    return asApiObject(patched);
  } catch (error) {
    // A patch whose test fails is not for this object.
    if (error instanceof FailedTestError) return object;
    if (!(error instanceof StatusError)) throw error;
    throw new PolicyProblem(`JSONPath: ${error.message}`);
  }
}

function operationOf(value: unknown): JsonRecord {
  if (!(value instanceof CelMessage) || value.typeName !== 'JSONPatch') {
    throw new PolicyProblem('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  }
  const set = value.get('value');
  if (set instanceof CelMessage) assertTypes(set, set.typeName);
  return record(jsonOf(value));
}

function assertTypes(value: CelMessage, expected: string): void {
  const problem = messageTypeProblem(value, expected);
  if (problem !== undefined) throw new PolicyProblem(`type mismatch: ${problem}`);
}

function jsonOf(value: CelValue): unknown {
  try {
    return jsonOfCel(value);
  } catch (error) {
    if (!(error instanceof CelEvaluationError)) throw error;
    throw new PolicyProblem(`the expression evaluated to a type that could not marshal to JSON: ${error.message}`);
  }
}
