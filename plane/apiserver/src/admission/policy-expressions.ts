import { CelBudget, CelCostError, CelEvaluationError, CelRecord, type CelValue } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { at, type JsonRecord, records, text } from '../json.js';
import type { AccessQuestions } from './access-questions.js';
import { programOf, scopeOf } from './conditions.js';

/** What one expression, and all expressions of one policy, may cost for one write: the bounds of kube-apiserver. */
const unitsPerCall = 1_000_000;
const unitsPerPolicy = 10_000_000;
/** After an expression of so many units, some ten milliseconds, other requests have a turn. */
const unitsBeforePause = 100_000;
const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** An expression of a policy that has no value; the message tells which. */
export class PolicyProblem extends Error {
  override readonly name = 'PolicyProblem';
}

/** Evaluates the expressions of one policy for one write, with its variables, within one budget. */
export class PolicyExpressions {
  private readonly scope: Map<string, CelValue>;
  private readonly variables: readonly JsonRecord[];
  private readonly problems = new Map<string, string>();
  private readonly questions: AccessQuestions;
  private remainingUnits = unitsPerPolicy;
  private areVariablesReady = false;

  constructor(policy: ApiObject, known: JsonRecord, questions: AccessQuestions) {
    this.scope = new Map([...scopeOf(known), ...questions.variables]);
    this.variables = records(at(policy, 'spec', 'variables'));
    this.questions = questions;
  }

  /** @param messages the types of which the expression may write messages. @throws PolicyProblem */
  async evaluate(source: string, messages: readonly string[] = []): Promise<CelValue> {
    await this.readyVariables();
    try {
      return await this.run(source, messages);
    } catch (error) {
      if (error instanceof PolicyProblem) throw error;
      throw new PolicyProblem(`expression '${source}' resulted in error: ${this.problemOf(error)}`);
    }
  }

  private async run(source: string, messages: readonly string[] = []): Promise<CelValue> {
    if (this.remainingUnits <= 0) throw new PolicyProblem(outOfBudget);
    const program = await programOf(source, messages);
    let spent = 0;
    try {
      return await this.questions.answered(() => {
        const budget = new CelBudget(Math.min(unitsPerCall, this.remainingUnits));
        try {
          return program.evaluate(this.scope, budget);
        } finally {
          spent = budget.spent;
        }
      });
    } finally {
      this.remainingUnits -= spent;
      if (spent > unitsBeforePause) await this.questions.pause();
    }
  }

  /** Each may use those before it. One without a value is told of by the expression that asks for it. */
  private async readyVariables(): Promise<void> {
    if (this.areVariablesReady) return;
    this.areVariablesReady = true;
    const values = new Map<string, CelValue>();
    this.scope.set('variables', new CelRecord(values));
    for (const variable of this.variables) {
      const name = text(variable.name) ?? '';
      try {
        values.set(name, await this.run(text(variable.expression) ?? ''));
      } catch (error) {
        if (error instanceof PolicyProblem) throw error;
        this.problems.set(name, `composited variable "${name}" fails to evaluate: ${this.problemOf(error)}`);
      }
      this.scope.set('variables', new CelRecord(values));
    }
  }

  private problemOf(error: unknown): string {
    if (error instanceof CelCostError) return error.message;
    const message = error instanceof Error ? error.message : String(error);
    const missing = error instanceof CelEvaluationError ? /^no such key: (.*)$/.exec(message)?.[1] : undefined;
    return this.problems.get(missing ?? '') ?? message;
  }
}
