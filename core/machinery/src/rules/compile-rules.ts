import type { CelEngine, CelProgram } from '../cel/engine.js';
import { resourceTypeOf, type SchemaType, schemaTypeOf } from '../cel/schema-type.js';
import type { JsonSchema, ValidationRule } from '../schema/json-schema.js';
import { anySchema } from './any-schema.js';

/** The rules of a schema and of all under it, compiled; a tree that has no part without rules. */
export interface RuleNode {
  readonly type: SchemaType;
  /** How an error shows a value of which more need not be said: `object`, `array`, `string`. */
  readonly typeName: string;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** Of maps: what is under `additionalProperties`. */
  readonly values?: RuleNode;
  readonly items?: RuleNode;
  /** Finds an item's counterpart before an update; absent where items have none. */
  readonly itemKeys?: readonly string[];
  /** False for what is replaced as a whole: nothing in it has a counterpart. */
  readonly isGranular: boolean;
}

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: CelProgram;
  readonly messageProgram?: CelProgram;
  /** Compares with what was: evaluated on updates only, unless `optionalOldSelf`. */
  readonly isTransition: boolean;
}

/** @throws CelCompileError for a rule that `ruleErrors` would complain of. */
export function compileRules(schema: JsonSchema, engine: CelEngine): RuleNode | undefined {
  return nodeOf(schema, resourceTypeOf(schema), engine);
}

const anything: SchemaType = { kind: 'scalar', name: 'dyn' };

function nodeOf(schema: JsonSchema, typed: SchemaType | undefined, engine: CelEngine): RuleNode | undefined {
  const type = typed ?? anything;
  const rules = (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, type, engine));
  const child = (each: JsonSchema | boolean | undefined) =>
    typeof each === 'object' ? nodeOf(each, schemaTypeOf(each), engine) : undefined;
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const node = child(property);
    if (node !== undefined) properties.set(name, node);
  }
  const items = child(schema.items);
  const values = child(schema.additionalProperties);
  if (rules.length === 0 && properties.size === 0 && items === undefined && values === undefined) return undefined;
  const isMapList = schema['x-kubernetes-list-type'] === 'map';
  return {
    type,
    typeName: schema.type ?? '',
    rules,
    properties,
    ...(items === undefined ? {} : { items }),
    ...(values === undefined ? {} : { values }),
    ...(isMapList ? { itemKeys: schema['x-kubernetes-list-map-keys'] ?? [] } : {}),
    isGranular: schema['x-kubernetes-map-type'] !== 'atomic',
  };
}

function compileRule(rule: ValidationRule, type: SchemaType, engine: CelEngine): CompiledRule {
  const variables = { self: { type }, oldSelf: { type, isOptional: rule.optionalOldSelf === true } };
  const program = engine.compile(rule.rule, variables);
  const expression = rule.messageExpression ?? '';
  const messageProgram = expression === '' ? undefined : engine.compile(expression, variables);
  return {
    rule,
    program,
    ...(messageProgram === undefined ? {} : { messageProgram }),
    isTransition: program.uses('oldSelf'),
  };
}

/** Whether a schema, or one under it, has rules in CEL. It may be one that `checkStructural` has not seen yet. */
export const hasRules = anySchema((schema) => (schema['x-kubernetes-validations']?.length ?? 0) > 0);
