import { formatKey, isRecord, isStatusError, type KubernetesObject, keyOf } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { ObjectContext } from '../controller/context.js';
import { controller } from '../controller/object-controller.js';
import type { Controller } from '../controller.js';
import { type Decision, wait } from '../decision.js';
import { NotNowError } from './not-now-error.js';
import type { Pass, PlannerDefinition } from './planner-definition.js';
import { standardConditions, standardEvents } from './standard-report.js';

const defaultAfterStepMs = 50;
/** What the API server refused is tried again so much later. */
const refusedMs = { soon: 150, later: 5000 } as const;

/** The controller of a planner: each reconcile is one pass of observe, plan, act, and of saying what came of it. */
export function plannerController<
  T extends KubernetesObject,
  Desired,
  Observation,
  Step,
  State,
  Seen extends Observation,
  Memory,
>(definition: PlannerDefinition<T, Desired, Observation, Step, State, Seen, Memory>): Controller<T> {
  const { name, owns, watches, writes, indexes, channels, when, debounceMs, concurrency, deadlineMs } = definition;
  const { timing = {} } = definition;
  const memories = new Memories<T, Memory>(definition);
  const reconcile = async (object: T, context: ObjectContext<T>): Promise<Decision<never>> => {
    const memory = memories.of(object, context.world);
    const decision = await makePass(definition, object, { ...context, memory });
    if (decision.kind === 'settled' && object.metadata.deletionTimestamp !== undefined) memories.forget(object);
    if (decision.kind === 'step') {
      const sentence = `did this: ${describe(definition, decision.step)}, because ${decision.reason}`;
      return wait(sentence, timing.afterStepMs ?? defaultAfterStepMs);
    }
    if (decision.kind !== 'wait') return decision;
    return { ...decision, afterMs: Math.min(decision.afterMs, timing.longestWaitMs ?? Number.POSITIVE_INFINITY) };
  };
  const planned = controller(definition.for, {
    name,
    ...(owns !== undefined && { owns }),
    ...(watches !== undefined && { watches }),
    ...(writes !== undefined && { writes }),
    ...(indexes !== undefined && { indexes }),
    ...(channels !== undefined && { channels }),
    ...(when !== undefined && { when }),
    ...(debounceMs !== undefined && { debounceMs }),
    ...(concurrency !== undefined && { concurrency }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    // What it says of conditions, `status` or `standardConditions` have said.
    condition: false,
    reconcile,
    ...(definition.plansDeletion === true && { finalize: reconcile }),
  });
  return {
    ...planned,
    async reconcile(key, context) {
      const result = await planned.reconcile(key, context);
      if (context.cache.get(definition.for, key) === undefined) memories.forgetKey(formatKey(key));
      const kind = result?.decision?.kind;
      if (timing.whenQuietMs === undefined || (kind !== 'settled' && kind !== 'blocked')) return result;
      return { ...result, requeueAfterMs: timing.whenQuietMs };
    },
  };
}

async function makePass<
  T extends KubernetesObject,
  Desired,
  Observation,
  Step,
  State,
  Seen extends Observation,
  Memory,
>(
  definition: PlannerDefinition<T, Desired, Observation, Step, State, Seen, Memory>,
  object: T,
  context: ObjectContext<T> & { readonly memory: Memory },
): Promise<Decision<Step>> {
  const seen = await definition.observe(object, context);
  const desired = definition.desired(object);
  const planned = definition.plan(desired, seen);
  const decision = await carryOut(planned, (step) => definition.act(step, { ...context, object, seen }));
  const pass: Pass<T, Desired, Seen, Step> = { object, desired, seen, decision, nowMs: context.world.clock.now() };
  if (definition.status === undefined) {
    for (const condition of standardConditions(decision)) context.condition(...condition);
  } else {
    setWholeStatus(object, definition.status(pass), context);
  }
  const describedStep = decision.kind === 'step' ? describe(definition, decision.step) : '';
  for (const event of definition.events?.(pass) ?? standardEvents(decision, describedStep)) context.event(event);
  return decision;
}

/** Does the step, if there is one. What the world does not do now is a wait, with the world's own words as its reason. */
async function carryOut<Step>(decision: Decision<Step>, act: (step: Step) => Promise<void>): Promise<Decision<Step>> {
  if (decision.kind !== 'step') return decision;
  try {
    await act(decision.step);
    return decision;
  } catch (error) {
    const later = whyLater(error);
    if (later === undefined) throw error;
    return later;
  }
}

function whyLater(error: unknown): Decision<never> | undefined {
  if (error instanceof NotNowError) return wait(error.message, error.afterMs);
  if (isStatusError(error, 'Conflict', 'NotFound')) return wait(error.message, refusedMs.soon);
  // What the API server will not have, such as a pod with impossible resources, is told where people look for it.
  return isStatusError(error) ? wait(error.message, refusedMs.later) : undefined;
}

/** Fields that the object had and the new status has not are removed; one that another writer has added since stays. */
function setWholeStatus<T extends KubernetesObject>(object: T, status: object, context: ObjectContext<T>): void {
  const before = isRecord(object) && isRecord(object.status) ? Object.keys(object.status) : [];
  const fields = { ...Object.fromEntries(before.map((name) => [name, undefined])), ...status };
  // All of its names and values are those of a status of T, or `undefined`.
  context.status(fields as Parameters<typeof context.status>[0]);
}

function describe<Step>(
  {
    describeStep,
    model,
  }: { describeStep?(step: Step): string; readonly model?: { describeStep?(step: Step): string } },
  step: Step,
): string {
  return describeStep?.(step) ?? model?.describeStep?.(step) ?? JSON.stringify(step);
}

/** What a planner's process remembers, by key and uid: an object that was made anew under an old name is another one. */
class Memories<T extends KubernetesObject, Memory> {
  readonly #definition: { remember?(object: T, world: World): Memory };
  readonly #byKey = new Map<string, { readonly uid: string; readonly memory: Memory }>();

  constructor(definition: { remember?(object: T, world: World): Memory }) {
    this.#definition = definition;
  }

  of(object: T, world: World): Memory {
    const { uid = '' } = object.metadata;
    const key = formatKey(keyOf(object));
    const known = this.#byKey.get(key);
    if (known?.uid === uid) return known.memory;
    // Without `remember`, Memory is undefined: nothing else can be asked for.
    const memory = this.#definition.remember?.(object, world) as Memory;
    this.#byKey.set(key, { uid, memory });
    return memory;
  }

  forget(object: T): void {
    this.forgetKey(formatKey(keyOf(object)));
  }

  forgetKey(key: string): void {
    this.#byKey.delete(key);
  }
}
