// The second layer (docs/decisions/0008-runtime-in-three-layers.md): from a function of one object to a Controller.
import { deepFreeze, formatKey, type KubernetesObject, type ObjectKey, type ResourceType } from '@castellan/machinery';
import type { Controller, ReconcileContext, ReconcileResult } from '../controller.js';
import { type Decision, wait } from '../decision.js';
import { errorMessage } from '../error-message.js';
import { ApplyMemory } from '../write/apply-object.js';
import { BeingDeletedError } from '../write/being-deleted-error.js';
import { checkedDecision } from './checked-decision.js';
import type { ObjectContext } from './context.js';
import { defaultConditionOf } from './decision-condition.js';
import { addFinalizer, type Changed, defaultFinalizer, hasFinalizer, removeFinalizer } from './finalizer.js';
import { RunContext } from './run-context.js';
import { StatusWriter } from './status-writer.js';

/** A function of one object: brings the world nearer to what the object says, and decides how things stand. */
export type ObjectReconcile<T extends KubernetesObject> = (
  object: T,
  context: ObjectContext<T>,
) => Promise<Decision<never>> | Decision<never>;

export interface ControllerDefinition<T extends KubernetesObject>
  extends Pick<
    Controller<T>,
    'owns' | 'watches' | 'writes' | 'indexes' | 'channels' | 'when' | 'debounceMs' | 'concurrency' | 'deadlineMs'
  > {
  /** Names the controller in logs, metrics and managed fields; the kind in lower case by default. */
  readonly name?: string;
  /**
   * Called with the object as the cache has it, frozen, whenever it or something that concerns it changed. Returns
   * `settled()`, `wait(reason, ms)` or `blocked(reason, remedy)`, or throws: then it is tried again with growing waits
   * (after a TerminalError not before something changes). It must come to rest by itself: a second run with nothing
   * changed writes nothing.
   */
  readonly reconcile: ObjectReconcile<T>;
  /**
   * Called instead when the object is being deleted; what it owns goes by itself. Where there is one, objects carry a
   * finalizer from before their first reconcile until this has returned `settled()`: nothing is deleted behind its back.
   */
  readonly finalize?: ObjectReconcile<T>;
  /** The finalizer's name; made from the kind's group and the controller's name by default. */
  readonly finalizer?: string;
  /**
   * The type of a condition of the status that says what was decided: True when settled, False while it waits or is
   * blocked, with the decision's sentence as its message. `Ready` by default for kinds of `defineKind` that have a status,
   * none for others, of which it is not known whether they have conditions; `false` for none.
   */
  readonly condition?: string | false;
}

/** A blocked object waits for a person, who may act where nothing watches. */
const blockedLookAgainMs = 60_000;
const beingDeletedLookAgainMs = 5_000;

/**
 * Makes a Controller of a function from an object to a decision. Reads come from the cache, `context.ensure` writes what
 * differs, and status, conditions, observedGeneration and finalizer are kept by it.
 */
export function controller<T extends KubernetesObject>(
  type: ResourceType<T>,
  definition: ControllerDefinition<T>,
): Controller<T> {
  const {
    name = type.kind.toLowerCase(),
    reconcile: _1,
    finalize: _2,
    finalizer: _3,
    condition: _4,
    ...data
  } = definition;
  const layer = new ObjectController(type, name, definition);
  return { ...data, name, for: type, reconcile: (key, context) => layer.reconcile(key, context) };
}

class ObjectController<T extends KubernetesObject> {
  readonly #type: ResourceType<T>;
  readonly #name: string;
  readonly #definition: ControllerDefinition<T>;
  readonly #finalizer: string;
  readonly #applied = new ApplyMemory();
  readonly #status: StatusWriter<T>;
  /** What was said last of each key, lest it be said again. */
  readonly #said = new Map<string, string>();

  constructor(type: ResourceType<T>, name: string, definition: ControllerDefinition<T>) {
    this.#type = type;
    this.#name = name;
    this.#definition = definition;
    this.#finalizer = definition.finalizer ?? defaultFinalizer(type, name);
    const { condition = defaultConditionOf(type) } = definition;
    this.#status = new StatusWriter(type, condition === false ? undefined : condition);
  }

  async reconcile(key: ObjectKey, base: ReconcileContext): Promise<ReconcileResult> {
    const cached = base.cache.get(this.#type, key);
    const held = cached === undefined ? undefined : await this.#heldObject(cached, base);
    if (held === undefined) {
      this.#said.delete(formatKey(key));
      return undefined;
    }
    const { object } = held;
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    const run = new RunContext({
      type: this.#type,
      object,
      base,
      fieldManager: this.#name,
      applied: this.#applied,
      cachedTypes: this.#cachedTypes,
    });
    const decision = await this.#decide(object, run);
    this.#say(object, decision, base);
    if (isGoing && decision.kind === 'settled') {
      await removeFinalizer(base.client, this.#type, object, this.#finalizer);
      return undefined;
    }
    const written = await this.#status.write(object, run.draft, base, decision);
    return {
      decision,
      ...lookAgain(decision),
      ownChanges: [held.change, written].filter((each) => each !== undefined),
    };
  }

  /** The object with our finalizer, where there is to be one; `undefined` where there is nothing to do for it. */
  async #heldObject(cached: T, { client }: ReconcileContext): Promise<Changed<T> | undefined> {
    const { finalize } = this.#definition;
    const unchanged = { object: cached, change: undefined };
    if (cached.metadata.deletionTimestamp !== undefined) {
      return finalize !== undefined && hasFinalizer(cached, this.#finalizer) ? unchanged : undefined;
    }
    if (finalize === undefined || hasFinalizer(cached, this.#finalizer)) return unchanged;
    const held = await addFinalizer(client, this.#type, cached, this.#finalizer);
    if (held === undefined || !hasFinalizer(held.object, this.#finalizer)) return undefined;
    deepFreeze(held.object);
    return held;
  }

  async #decide(object: T, run: RunContext<T>): Promise<Decision<never>> {
    const { reconcile, finalize } = this.#definition;
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    const { base, draft } = run;
    try {
      const returned: unknown = await (isGoing && finalize !== undefined ? finalize : reconcile)(object, run.context());
      return checkedDecision(returned, `${isGoing ? 'finalize' : 'reconcile'} of controller ${this.#name}`);
    } catch (error) {
      // The watch says when it is gone; until then nothing has failed.
      if (error instanceof BeingDeletedError) return wait(error.message, beingDeletedLookAgainMs);
      // What it saw before it failed is worth knowing, and must not hide why it failed.
      await this.#status.write(object, draft, base).catch((statusError: unknown) => {
        base.log.debug(`the status was not written either: ${errorMessage(statusError)}`);
      });
      throw error;
    }
  }

  /** Each decision once: people read the log, and a person has to act on what is blocked. */
  #say(object: T, decision: Decision<never>, { log, events }: ReconcileContext): void {
    const key = formatKey({ ...object.metadata, name: object.metadata.name ?? '' });
    const sentence = decision.kind === 'blocked' ? `${decision.reason}; ${decision.remedy}` : decision.reason;
    if (this.#said.get(key) === `${decision.kind}: ${sentence}`) return;
    this.#said.set(key, `${decision.kind}: ${sentence}`);
    log.info(sentence, { decision: decision.kind });
    if (decision.kind === 'blocked') events.record(object, { type: 'Warning', reason: 'Blocked', message: sentence });
  }

  get #cachedTypes(): readonly ResourceType[] {
    const { owns = [], watches = [] } = this.#definition;
    return [this.#type, ...owns, ...watches.map(({ type }) => type)];
  }
}

function lookAgain(decision: Decision<never>): { readonly requeueAfterMs?: number } {
  switch (decision.kind) {
    case 'wait':
      return { requeueAfterMs: decision.afterMs };
    case 'blocked':
      return { requeueAfterMs: blockedLookAgainMs };
    default:
      return {};
  }
}
