import type { JsonSchema } from '../schema/json-schema.js';
import { type Expression, isExpression, listOf, operand } from './expression.js';
import { maxSizeOf } from './schema-size.js';
import { escapeName } from './schema-type.js';

/** What is known of a value before there is one. */
interface Estimate {
  /** The most that it costs to get it. */
  readonly cost: number;
  /** The most characters, items or entries that it has; `undefined` where nothing bounds it. */
  readonly size: number | undefined;
  /** The schema of its place in the object, where it stands in one. */
  readonly schema?: JsonSchema | undefined;
  /** What its items are, where that is known and `schema` does not say. */
  readonly items?: Estimate | undefined;
  readonly kind: 'scalar' | 'text' | 'list' | 'map' | 'unknown';
}

type Known = ReadonlyMap<string, Estimate>;

/**
 * The most that an expression can cost, whatever the object is: cel-go's static estimate, with what Kubernetes'
 * libraries cost. `schema` is that of `self` and `oldSelf`.
 *
 * Source: cel-go checker/cost.go, k8s.io/apiserver/pkg/cel/library/cost.go (their figures are part of the API: they
 * decide which definitions are accepted).
 */
export function estimateCost(expression: Expression, schema: JsonSchema): number {
  const self = placed(schema, 1);
  return estimate(
    expression,
    new Map([
      ['self', self],
      ['oldSelf', self],
    ]),
  ).cost;
}

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
const unlimited = 2 ** 64;

function estimate(expression: Expression, known: Known): Estimate {
  const { op, args } = expression;
  const run = (index: number) => estimate(operand(args, index), known);
  switch (op) {
    case 'value':
      return literal(args);
    case 'id':
      return known.get(String(args)) ?? { cost: 1, size: undefined, kind: 'unknown' };
    case '.':
    case '.?':
      return member(run(0), String(listOf(args)[1]));
    case '[]':
    case '[?]': {
      const [on, key] = [run(0), run(1)];
      return { ...itemOf(on), cost: on.cost + key.cost + 1 };
    }
    case '?:': {
      const [condition, one, other] = [run(0), run(1), run(2)];
      return { ...one, cost: condition.cost + Math.max(one.cost, other.cost), size: larger(one, other) };
    }
    case '&&':
    case '||':
      return scalar(run(0).cost + run(1).cost);
    case '!_':
    case '-_':
      return scalar(run(0).cost + 1);
    case 'list': {
      const items = listOf(args)
        .filter(isExpression)
        .map((item) => estimate(item, known));
      return { cost: 10 + sum(items), size: items.length, kind: 'list', items: items[0] };
    }
    case 'map': {
      const sides = listOf(args).flatMap((entry) => [0, 1].map((side) => estimate(operand(entry, side), known)));
      return { cost: 30 + sum(sides), size: sides.length / 2, kind: 'map' };
    }
    case 'call':
    case 'rcall':
      return call(expression, known);
    default:
      return binary(op, run(0), run(1));
  }
}

function literal(value: unknown): Estimate {
  if (typeof value === 'string') return { cost: 0, size: [...value].length, kind: 'text' };
  if (value instanceof Uint8Array) return { cost: 0, size: value.length, kind: 'text' };
  return scalar(0);
}

function scalar(cost: number): Estimate {
  return { cost, size: 1, kind: 'scalar' };
}

/** A value that stands in the object. */
function placed(schema: JsonSchema | undefined, cost: number): Estimate {
  if (schema === undefined) return { cost, size: undefined, kind: 'unknown' };
  return { cost, size: maxSizeOf(schema), schema, kind: kindOf(schema) };
}

function kindOf(schema: JsonSchema): Estimate['kind'] {
  if (schema['x-kubernetes-int-or-string']) return 'unknown';
  switch (schema.type) {
    case 'string':
      return ['duration', 'date', 'date-time'].includes(schema.format ?? '') ? 'scalar' : 'text';
    case 'array':
      return 'list';
    case 'object':
      return 'map';
    default:
      return 'scalar';
  }
}

function member(on: Estimate, name: string): Estimate {
  const { properties = {}, additionalProperties } = on.schema ?? {};
  const declared = Object.entries(properties).find(([field]) => escapeName(field) === name)?.[1];
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  if (declared !== undefined || others !== undefined) return placed(declared ?? others, on.cost + 1);
  // What every object has: `metadata.name`.
  return on.schema === undefined ? placed(undefined, on.cost + 1) : placed(undeclared[name], on.cost + 1);
}

const undeclared: Readonly<Record<string, JsonSchema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
};

/** An item of a list, or a value of a map. */
function itemOf({ schema, items }: Estimate): Estimate {
  if (items !== undefined) return items;
  const { additionalProperties } = schema ?? {};
  return placed(schema?.items ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined), 1);
}

function binary(op: string, left: Estimate, right: Estimate): Estimate {
  const cost = left.cost + right.cost;
  switch (op) {
    case 'in':
      return scalar(cost + (right.kind === 'map' ? 1 : sizeOf(right)));
    case '+': {
      const size = Math.min(sizeOf(left) + sizeOf(right), unlimited);
      if (left.kind === 'text' || right.kind === 'text') return { cost: cost + part(size), size, kind: 'text' };
      if (left.kind !== 'list' && right.kind !== 'list') return scalar(cost + 1);
      return { cost: cost + 1, size, kind: 'list', items: left.items ?? itemOf(left) };
    }
    case '==':
    case '!=':
      return scalar(cost + part(Math.min(sizeOf(left), sizeOf(right))));
    case '<':
    case '<=':
    case '>':
    case '>=':
      if (left.kind === 'scalar' || right.kind === 'scalar') return scalar(cost + 1);
      return scalar(cost + Math.max(1, part(Math.min(sizeOf(left), sizeOf(right)))));
    default:
      return scalar(cost + 1);
  }
}

function call({ op, args }: Expression, known: Known): Estimate {
  const [name, receiver, given] = op === 'call' ? [listOf(args)[0], undefined, listOf(args)[1]] : listOf(args);
  const parameters = listOf(given).filter(isExpression);
  const target = isExpression(receiver) ? receiver : undefined;
  const macro = macroCost(String(name), target, parameters, known);
  if (macro !== undefined) return macro;
  const values = parameters.map((parameter) => estimate(parameter, known));
  const isSpace = target?.op === 'id' && !known.has(String(target.args));
  const on = target === undefined || isSpace ? undefined : estimate(target, known);
  const result = functionCost(String(name), on ?? values[0] ?? scalar(0), on === undefined ? values.slice(1) : values);
  return { ...result, cost: Math.min(result.cost + sum(values) + (on?.cost ?? 0), unlimited) };
}

/** What a function itself costs, without what it is given. */
function functionCost(name: string, on: Estimate, [first, second]: readonly Estimate[]): Estimate {
  const size = sizeOf(on);
  switch (name) {
    case 'startsWith':
    case 'endsWith':
      return scalar(part(sizeOf(first)));
    case 'matches':
      return scalar(part(size + 1) * Math.ceil(sizeOf(first) * perPatternCharacter));
    case 'contains':
      return on.kind === 'text' ? scalar(part(size) * part(sizeOf(first))) : scalar(1);
    case 'find':
      return { cost: patternCost(size, first), size, kind: 'text' };
    case 'findAll':
      return { cost: patternCost(size, first), size, kind: 'list' };
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return { cost: part(size), size, kind: 'text' };
    case 'replace':
      return { cost: 2 * part(size), size: replacedSize(size, first, second), kind: 'text' };
    case 'split':
      return { cost: 2 * part(size), size, kind: 'list', items: { cost: 1, size, kind: 'text' } };
    case 'join': {
      const joined = size * sizeOf(itemOf(on)) + sizeOf(first ?? literal('')) * Math.max(0, size - 1);
      return { cost: part(joined), size: Math.min(joined, unlimited), kind: 'text' };
    }
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return { ...itemOf(on), cost: on.kind === 'text' ? part(size) : size * comparisonCost(itemOf(on)) };
    case 'url':
    case 'ip':
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'isURL':
    case 'quantity':
    case 'isQuantity':
    case 'format':
      return scalar(part(size));
    case 'string':
      return { cost: 1, size: on.kind === 'text' ? size : undefined, kind: 'text' };
    case 'bytes':
      return { cost: part(size), size: size * 4, kind: 'text' };
    default:
      // Most functions cost one, whatever they are given; what the others return is scalar.
      return ['value', 'orValue', 'optional'].includes(name) ? { ...on, cost: 1 } : scalar(1);
  }
}

function patternCost(size: number, pattern: Estimate | undefined): number {
  return part(size + 1) * Math.ceil(sizeOf(pattern) * perPatternCharacter);
}

function replacedSize(size: number, replaced: Estimate | undefined, by: Estimate | undefined): number {
  const isFixed = replaced?.schema === undefined && replaced?.size !== undefined && replaced.size > 0;
  if (!isFixed) return Math.min((size + 1) * sizeOf(by) + size, unlimited);
  if (sizeOf(by) <= sizeOf(replaced)) return size;
  return Math.min(Math.ceil(size / sizeOf(replaced)) * sizeOf(by), unlimited);
}

function comparisonCost(item: Estimate): number {
  return 1 + (item.kind === 'text' ? part(sizeOf(item)) : 0);
}

/** Of macros: each is a loop over a range, and what a step of it costs beside its body is fixed. */
function macroCost(
  name: string,
  target: Expression | undefined,
  parameters: readonly Expression[],
  known: Known,
): Estimate | undefined {
  if (target === undefined) {
    const [field] = parameters;
    if (name !== 'has' || field?.op !== '.') return undefined;
    return scalar(estimate(operand(field.args, 0), known).cost);
  }
  const [variable, ...bodies] = parameters;
  if (variable?.op !== 'id' || bodies.length === 0) return undefined;
  const nameOf = String(variable.args);
  if (name === 'bind') {
    const value = estimate(operand(bodies, 0), known);
    const result = estimate(operand(bodies, 1), new Map([...known, [nameOf, { ...value, cost: 1 }]]));
    return { ...result, cost: 10 + value.cost + result.cost };
  }
  const range = estimate(target, known);
  if (name === 'optMap' || name === 'optFlatMap') {
    const body = estimate(operand(bodies, 0), new Map([...known, [nameOf, { ...range, cost: 1 }]]));
    return { ...body, cost: 2 * range.cost + body.cost + 13 };
  }
  if (!loops.has(name)) return undefined;
  const isMap = range.kind === 'map';
  const item: Estimate = isMap ? { cost: 1, size: undefined, kind: 'text' } : { ...itemOf(range), cost: 1 };
  const inner = new Map([...known, [nameOf, item]]);
  const [first, second] = bodies.map((body) => estimate(body, inner));
  return loop(name, range, item, [first ?? scalar(0), second]);
}

const loops = new Set(['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter']);

function loop(
  name: string,
  range: Estimate,
  item: Estimate,
  [first, second]: readonly [Estimate, Estimate | undefined],
): Estimate {
  const times = (step: number, once: number) => Math.min(range.cost + once + sizeOf(range) * step, unlimited);
  switch (name) {
    case 'all':
      return scalar(times(first.cost + 3, 1));
    case 'exists':
      return scalar(times(first.cost + 4, 1));
    case 'filter':
      return { cost: times(first.cost + 13, 11), size: range.size, kind: 'list', items: item };
    case 'map': {
      const mapped = second ?? first;
      const step = second === undefined ? first.cost + 12 : first.cost + second.cost + 12;
      return { cost: times(step, 11), size: range.size, kind: 'list', items: { ...mapped, cost: 1 } };
    }
    default:
      return scalar(times(first.cost + 2, 2));
  }
}

/** A tenth of a unit per character. */
function part(size: number): number {
  return Math.ceil(size * perCharacter);
}

function sizeOf(value: Estimate | undefined): number {
  return value?.size ?? unlimited;
}

function larger(one: Estimate, other: Estimate): number | undefined {
  return one.size === undefined || other.size === undefined ? undefined : Math.max(one.size, other.size);
}

function sum(values: readonly Estimate[]): number {
  return values.reduce((total, { cost }) => total + cost, 0);
}
