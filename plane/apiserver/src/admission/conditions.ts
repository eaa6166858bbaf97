import {
  CelBudget,
  type CelEngine,
  type CelProgram,
  type CelValue,
  loadCelEngine,
  StatusError,
  untypedCelValue,
} from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { type JsonRecord, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import { AccessQuestions } from './access-questions.js';
import type { AdmissionContext } from './admission-plugin.js';

/** What the conditions of one webhook or policy may cost together, as upstream bounds them. */
const conditionBudget = 2_500_000;
const keptPrograms = 1000;

/** Names that expressions of admission know; all of them of any type. */
const variableNames = [
  'object',
  'oldObject',
  'request',
  'namespaceObject',
  'params',
  'variables',
  'authorizer',
] as const;
export type CelScope = ReadonlyMap<string, CelValue>;

const programs = new Map<string, CelProgram>();

/** An expression made ready, kept for the next write. `messages`: the types of which it may write messages. */
export async function programOf(source: string, messages: readonly string[] = []): Promise<CelProgram> {
  const key = `${messages.join()} ${source}`;
  const known = programs.get(key);
  if (known !== undefined) return known;
  const engine: CelEngine = await loadCelEngine();
  const dynamic = { type: { kind: 'scalar', name: 'dyn' } } as const;
  const variables = Object.fromEntries(variableNames.map((name) => [name, dynamic]));
  const program = engine.compile(source, variables, messages);
  if (programs.size >= keptPrograms) programs.clear();
  programs.set(key, program);
  return program;
}

export function scopeOf(values: JsonRecord): CelScope {
  return new Map(Object.entries(values).map(([name, value]) => [name, untypedCelValue(value)]));
}

/** All conditions hold: undefined. One does not: 'unmet'. One has no value and none is unmet: why. */
export type ConditionsVerdict = undefined | 'unmet' | { readonly problem: string };

export async function conditionsProblem(
  conditions: readonly JsonRecord[],
  known: JsonRecord,
  questions: AccessQuestions,
): Promise<ConditionsVerdict> {
  if (conditions.length === 0) return undefined;
  const scope = new Map([...scopeOf(known), ...questions.variables]);
  let remainingUnits = conditionBudget;
  const problems: string[] = [];
  for (const { expression } of conditions) {
    const source = text(expression) ?? '';
    try {
      const program = await programOf(source);
      let spent = 0;
      const value = await questions.answered(() => {
        const budget = new CelBudget(remainingUnits);
        try {
          return program.evaluate(scope, budget);
        } finally {
          spent = budget.spent;
        }
      });
      remainingUnits -= spent;
      if (value !== true) return 'unmet';
    } catch (error) {
      if (error instanceof StatusError) throw error;
      problems.push(
        `expression '${source}' resulted in error: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  if (problems.length === 0) return undefined;
  const [only = ''] = problems;
  return { problem: problems.length === 1 ? only : `[${problems.join(', ')}]` };
}

/** Whether all match conditions of a webhook hold. One without a value counts by the failure policy. */
export async function conditionsHold(
  conditions: readonly JsonRecord[],
  request: JsonRecord,
  {
    isIgnorable,
    write,
    context,
  }: { readonly isIgnorable: boolean; readonly write: AdmissionWrite; readonly context: AdmissionContext },
): Promise<boolean> {
  const known = { object: request.object, oldObject: request.oldObject, request };
  const verdict = await conditionsProblem(conditions, known, new AccessQuestions(write, context));
  if (verdict === undefined) return true;
  if (verdict === 'unmet' || isIgnorable) return false;
  throw forbidden(write.definition, write.name, verdict.problem);
}
