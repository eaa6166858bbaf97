import { CelCompileError } from '../cel/cel-error.js';
import { estimateCost } from '../cel/cost-estimate.js';
import type { CelEngine } from '../cel/engine.js';
import { maxOccurrences } from '../cel/schema-size.js';
import { resourceTypeOf, type SchemaType, schemaTypeOf } from '../cel/schema-type.js';
import type { JsonSchema, ValidationRule } from '../schema/json-schema.js';
import { type FieldError, fieldError } from '../validation/field-error.js';
import { goJson } from '../value/canonical-json.js';
import { RuleCosts } from './rule-costs.js';

interface At {
  readonly path: string;
  /** The list or map that is replaced as a whole and holds this place, if there is one: there is no old value. */
  readonly uncorrelatable: string | undefined;
  /** How often a value can stand here in one object; `undefined` where its schema does not bound it. */
  readonly occurrences: number | undefined;
}

interface Reader {
  readonly engine: CelEngine;
  readonly costs: RuleCosts;
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** What is wrong with the rules in CEL of a schema and of all under it, in kube-apiserver's words. */
export function ruleErrors(schema: JsonSchema, path: string, engine: CelEngine): readonly FieldError[] {
  const costs = new RuleCosts();
  const at = { path, uncorrelatable: undefined, occurrences: 1 };
  const errors = errorsAt(schema, resourceTypeOf(schema), at, { engine, costs });
  return [...errors, ...costs.totalErrors(path)];
}

function errorsAt(schema: JsonSchema, type: SchemaType | undefined, at: At, reader: Reader): readonly FieldError[] {
  const { additionalProperties, items } = schema;
  const errors = (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => {
    const path = `${at.path}.x-kubernetes-validations[${index}]`;
    const written = writtenErrors(rule, path, schema);
    if (written.length > 0) return written;
    return compiledErrors(rule, { ...at, path }, { schema, type: type ?? { kind: 'scalar', name: 'dyn' } }, reader);
  });
  const below = schema['x-kubernetes-map-type'] === 'atomic' ? (at.uncorrelatable ?? at.path) : at.uncorrelatable;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const place = { ...at, path: `${at.path}.properties[${name}]`, uncorrelatable: below };
    errors.push(...errorsAt(property, schemaTypeOf(property), place, reader));
  }
  if (typeof additionalProperties === 'object') {
    const occurrences = times(at.occurrences, schema.maxProperties);
    const place = { path: `${at.path}.additionalProperties`, uncorrelatable: below, occurrences };
    errors.push(...errorsAt(additionalProperties, schemaTypeOf(additionalProperties), place, reader));
  }
  if (items !== undefined) {
    const isMapList = schema['x-kubernetes-list-type'] === 'map';
    const uncorrelatable = isMapList ? at.uncorrelatable : (at.uncorrelatable ?? at.path);
    const place = { path: `${at.path}.items`, uncorrelatable, occurrences: times(at.occurrences, schema.maxItems) };
    errors.push(...errorsAt(items, schemaTypeOf(items), place, reader));
  }
  return errors;
}

function times(occurrences: number | undefined, most: number | undefined): number | undefined {
  return occurrences === undefined || most === undefined ? undefined : occurrences * most;
}

/** What can be said of a rule without reading its expressions. */
function writtenErrors(rule: ValidationRule, path: string, schema: JsonSchema): FieldError[] {
  const { rule: source = '', message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const errors: FieldError[] = [];
  if (source.trim() === '') errors.push(fieldError.required(`${path}.rule`, 'rule is not specified'));
  if (message !== '' && message.trim() === '') {
    errors.push(fieldError.invalid(`${path}.message`, message, 'message must be non-empty if specified'));
  } else if (/[\r\n]/.test(message.trim())) {
    errors.push(fieldError.invalid(`${path}.message`, message, 'must not contain line breaks'));
  } else if (/[\r\n]/.test(source.trim()) && message.trim() === '') {
    errors.push(fieldError.required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(fieldError.required(`${path}.messageExpression`, 'must be non-empty if specified'));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(fieldError.notSupported(`${path}.reason`, reason, reasons));
  }
  if (fieldPath !== '' && !isPathOf(schema, fieldPath)) {
    errors.push(fieldError.invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

/** `.spec.foo`, `.spec['foo-bar']`: fields that the schema has; not items of lists. */
function isPathOf(schema: JsonSchema, path: string): boolean {
  let here: JsonSchema | undefined = schema;
  let rest = path;
  while (rest !== '' && here !== undefined) {
    const match: RegExpExecArray | null = /^(?:\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest);
    if (match === null) return false;
    const name: string = match[1] ?? match[2]?.replace(/\\(.)/g, '$1') ?? '';
    rest = rest.slice(match[0].length);
    const others: JsonSchema | boolean | undefined = here.additionalProperties;
    const declared: JsonSchema | undefined = Object.hasOwn(here.properties ?? {}, name)
      ? here.properties?.[name]
      : undefined;
    here = declared ?? (typeof others === 'object' ? others : undefined);
  }
  return here !== undefined;
}

function compiledErrors(
  rule: ValidationRule,
  at: At,
  { schema, type }: { readonly schema: JsonSchema; readonly type: SchemaType },
  { engine, costs }: Reader,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const variables = { self: { type }, oldSelf: { type, isOptional: rule.optionalOldSelf === true } };
  const compile = (name: 'rule' | 'messageExpression', source: string, wanted: string, otherwise: string) => {
    try {
      const program = engine.compile(source, variables);
      if (program.resultType === wanted || program.resultType === 'dyn') {
        const units = estimateCost(program.expression, schema) * (at.occurrences ?? maxOccurrences(schema));
        errors.push(...costs.observe(at.path, units, name));
        return program;
      }
      errors.push(invalidRule(`${at.path}.${name}`, rule, otherwise));
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error;
      const failed = name === 'rule' ? 'compilation failed' : 'messageExpression compilation failed';
      errors.push(invalidRule(`${at.path}.${name}`, rule, `${failed}: ${error.message}`));
    }
    return undefined;
  };
  const program = compile('rule', rule.rule, 'bool', 'cel expression must evaluate to a bool');
  const isTransition = program?.uses('oldSelf') === true;
  if (isTransition && at.uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${at.uncorrelatable}`;
    errors.push(fieldError.invalid(`${at.path}.rule`, rule.rule, detail));
  }
  if (program !== undefined && !isTransition && rule.optionalOldSelf !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    errors.push(fieldError.invalid(`${at.path}.optionalOldSelf`, rule.optionalOldSelf, detail));
  }
  if (rule.messageExpression !== undefined && rule.messageExpression !== '') {
    compile('messageExpression', rule.messageExpression, 'string', 'messageExpression must evaluate to a string');
  }
  return errors;
}

/** Upstream shows the whole rule, as Go writes its struct. */
function invalidRule(field: string, rule: ValidationRule, detail: string): FieldError {
  const members = [
    ['Rule', rule.rule],
    ['Message', rule.message ?? ''],
    ['MessageExpression', rule.messageExpression ?? ''],
    ['Reason', rule.reason ?? null],
    ['FieldPath', rule.fieldPath ?? ''],
    ['OptionalOldSelf', rule.optionalOldSelf ?? null],
  ].map(([name, value]) => `${JSON.stringify(name)}:${goJson(value)}`);
  return { type: 'Invalid', field, message: `Invalid value: {${members.join(',')}}: ${detail}` };
}
