import type { Environment } from '@marcbachmann/cel-js';
import { loadRegularExpressions } from '../schema/regular-expressions.js';
import type { CelBudget } from './budget.js';
import { CelCompileError } from './cel-error.js';
import { compileErrorText, syntaxErrorText } from './compile-errors.js';
import { declareType } from './declare-type.js';
import { evaluate } from './evaluate.js';
import { type Expression, isExpression, mentions } from './expression.js';
import { libraries } from './functions.js';
import { authorizerTypes } from './library-authorizer.js';
import { withMessageCalls } from './message-literals.js';
import type { SchemaType } from './schema-type.js';
import type { CelValue } from './value.js';

/**
 * Expressions in the Common Expression Language with the libraries of Kubernetes. Reading and checking is done by
 * `@marcbachmann/cel-js`; what expressions evaluate to, and what they cost, is decided here.
 */
export interface CelEngine {
  /** @throws CelCompileError in the words of cel-go, with the place in `source`. */
  compile(
    source: string,
    variables: Readonly<Record<string, CelVariable>>,
    /** Types of which the expression may write messages, as in `Object{spec: Object.spec{replicas: 1}}`. */
    messages?: readonly string[],
  ): CelProgram;
}

export interface CelVariable {
  readonly type: SchemaType;
  /** `optional<type>`: the value is a `CelOptional`. */
  readonly isOptional?: boolean;
}

export interface CelProgram {
  /** `bool`, `string`, `list<int>`; `dyn` where it is known only when the expression is evaluated. */
  readonly resultType: string;
  readonly expression: Expression;
  uses(variable: string): boolean;
  /** @throws CelEvaluationError where there is no value, CelCostError when it costs more than `budget` holds. */
  evaluate(values: ReadonlyMap<string, CelValue>, budget: CelBudget): CelValue;
}

let loading: Promise<CelEngine> | undefined;
let loaded: CelEngine | undefined;

/** Loads the engine, which costs some ten milliseconds and megabytes: once, by the first rule that needs it. */
export function loadCelEngine(): Promise<CelEngine> {
  loading ??= start();
  return loading;
}

/** The engine once it is loaded; else undefined. */
export function celEngine(): CelEngine | undefined {
  return loaded;
}

async function start(): Promise<CelEngine> {
  const [cel] = await Promise.all([import('@marcbachmann/cel-js'), loadRegularExpressions()]);
  const base = new cel.Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  declareLibraries(base);
  const engine: CelEngine = {
    compile: (source, variables, messages = []) => {
      const environment = base.clone();
      for (const [name, { type, isOptional }] of Object.entries(variables)) {
        const declared = declareType(environment, type);
        environment.registerVariable(name, isOptional === true ? `optional<${declared}>` : declared);
      }
      return compileIn(environment, messages.length === 0 ? source : withMessageCalls(source, messages));
    },
  };
  loaded = engine;
  return engine;
}

function compileIn(environment: Environment, source: string): CelProgram {
  const parsed = parse(environment, source);
  const { valid, type, error } = parsed.check();
  if (!valid) {
    const declared = new Set(environment.getDefinitions().functions.map(({ signature }) => nameOf(signature)));
    const text = compileErrorText(source, error, { isFunction: (name) => declared.has(name) });
    throw new CelCompileError(text, { cause: error });
  }
  const expression: unknown = parsed.ast;
  if (!isExpression(expression)) throw new TypeError('cel-js gave no expression');
  return {
    resultType: type ?? 'dyn',
    expression,
    uses: (variable) => mentions(expression, variable),
    evaluate: (values, budget) => evaluate(expression, values, budget),
  };
}

function parse(environment: Environment, source: string) {
  try {
    return environment.parse(source);
  } catch (error) {
    throw new CelCompileError(syntaxErrorText(source, error), { cause: error });
  }
}

/** Types of our libraries, and the names under which some of their functions are called. */
const opaqueTypes = ['kubernetes.Quantity', 'kubernetes.URL', 'kubernetes.Semver', 'net.IP', 'net.CIDR'];
const namespaces = { sets: 'CelSets', strings: 'CelStrings', ip: 'CelIpNamespace', jsonpatch: 'CelJsonPatch' };

function declareLibraries(environment: Environment): void {
  for (const name of [...opaqueTypes, ...authorizerTypes]) {
    environment.registerType(name, { ctor: class {} });
    environment.registerOperator(`${name} == ${name}`, notByCelJs);
  }
  for (const [name, type] of Object.entries(namespaces)) {
    const ctor = class {};
    environment.registerType(type, { ctor });
    environment.registerConstant(name, type, new ctor());
  }
  const known = new Set(environment.getDefinitions().functions.map(({ signature }) => formOf(signature)));
  const declared = libraries.flatMap((library) => Object.values(library)).flatMap(({ signatures }) => signatures ?? []);
  for (const signature of new Set(declared)) {
    if (!known.has(formOf(signature))) environment.registerFunction(signature, notByCelJs);
  }
}

/** `charAt` of `string.charAt(int): string` */
function nameOf(signature: string): string {
  const head = signature.slice(0, signature.indexOf('('));
  return head.slice(head.lastIndexOf('.') + 1);
}

/** A signature without what it returns. */
function formOf(signature: string): string {
  return signature.slice(0, signature.lastIndexOf(':')).replace(/\s/g, '');
}

function notByCelJs(): never {
  throw new Error('expressions are evaluated here, not by cel-js');
}
