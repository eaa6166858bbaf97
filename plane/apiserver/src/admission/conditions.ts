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

/** What the conditions of one webhook or policy may cost together, as upstream bounds them. */
const conditionBudget = 2_500_000;
const keptPrograms = 1000;

/** Names that expressions of admission know; all of them of any type. */
const variableNames = ['object', 'oldObject', 'request', 'namespaceObject', 'params', 'variables'] as const;
export type CelScope = ReadonlyMap<string, CelValue>;

const programs = new Map<string, CelProgram>();

/** An expression made ready, kept for the next write. */
export async function programOf(source: string): Promise<CelProgram> {
  const known = programs.get(source);
  if (known !== undefined) return known;
  const engine: CelEngine = await loadCelEngine();
  const dynamic = { type: { kind: 'scalar', name: 'dyn' } } as const;
  const variables = Object.fromEntries(variableNames.map((name) => [name, dynamic]));
  const program = engine.compile(source, variables);
  if (programs.size >= keptPrograms) programs.clear();
  programs.set(source, program);
  return program;
}

export function scopeOf(values: JsonRecord): CelScope {
  return new Map(Object.entries(values).map(([name, value]) => [name, untypedCelValue(value)]));
}

/** Whether all match conditions hold. One without a value counts by the failure policy: refused, or passed over. */
export async function conditionsHold(
  conditions: readonly JsonRecord[],
  request: JsonRecord,
  {
    name,
    isIgnorable,
    write,
  }: { readonly name: string; readonly isIgnorable: boolean; readonly write: AdmissionWrite },
): Promise<boolean> {
  if (conditions.length === 0) return true;
  const scope = scopeOf({ object: request.object, oldObject: request.oldObject, request });
  const budget = new CelBudget(conditionBudget);
  let problem: string | undefined;
  for (const condition of conditions) {
    try {
      if ((await programOf(text(condition.expression) ?? '')).evaluate(scope, budget) !== true) return false;
    } catch (error) {
      if (error instanceof StatusError) throw error;
      problem ??= `condition "${text(condition.name) ?? ''}" has no value: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  if (problem === undefined) return true;
  if (isIgnorable) return false;
  throw forbidden(write.definition, write.name, `${name}: ${problem}`);
}
