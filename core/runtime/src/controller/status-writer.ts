import {
  createMergePatch,
  deepEqual,
  formatKey,
  isStatusError,
  type JsonRecord,
  type KubernetesObject,
  keyOf,
  type ResourceType,
  resourceName,
} from '@castellan/machinery';
import type { OwnChange, ReconcileContext } from '../controller.js';
import type { Decision } from '../decision.js';
import { TerminalError } from '../terminal-error.js';
import { ownChange, patchLatest } from '../write/patch-latest.js';
import { isTrimmed } from './cached-as.js';
import { conditionOf } from './decision-condition.js';
import { type StatusDraft, statusOf } from './status-draft.js';

const mostObjects = 10_000;

/** Writes the status of objects of one type: once per reconcile, only what differs, never over what another wrote. */
export class StatusWriter<T extends KubernetesObject> {
  readonly #type: ResourceType<T>;
  readonly #decisionCondition: string | undefined;
  /**
   * By uid: what was wanted last and what the server made of it. A schema may not have a field that we want, such as
   * observedGeneration, and what is pruned each time must not be written each time.
   */
  readonly #written = new Map<string, { readonly wanted: JsonRecord; readonly became: JsonRecord }>();

  constructor(type: ResourceType<T>, decisionCondition: string | undefined) {
    this.#type = type;
    this.#decisionCondition = decisionCondition;
  }

  /**
   * Gives what it changed, if anything.
   *
   * @param decision of a reconcile that came to its end; without one the generation does not count as observed.
   */
  async write(
    object: T,
    draft: StatusDraft,
    context: ReconcileContext,
    decision?: Decision<never>,
  ): Promise<OwnChange | undefined> {
    const isAsked = !draft.isEmpty;
    if (decision !== undefined && this.#decisionCondition !== undefined) {
      draft.setDefaultCondition(conditionOf(this.#decisionCondition, decision));
    }
    if (draft.isEmpty) return undefined;
    const { client, world } = context;
    const now = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const latest = await this.#latest(object, context);
    if (latest === undefined) return undefined;
    const { generation } = object.metadata;
    const reconciled = { now, generation, isComplete: decision !== undefined };
    let wanted: JsonRecord = {};
    let from = latest;
    const change = (live: T): JsonRecord | undefined => {
      from = live;
      wanted = draft.applyTo(statusOf(live), reconciled);
      return this.#isWritten(live, wanted) ? undefined : { status: createMergePatch(statusOf(live), wanted) };
    };
    try {
      const written = await patchLatest(client, this.#type, latest, change, { subresource: 'status' });
      if (written === undefined) return undefined;
      this.#note(written, wanted);
      return ownChange(from, written);
    } catch (error) {
      // A status may have fields that it must have, and a reconcile that waits may not have said them yet.
      if (!isAsked && isStatusError(error, 'Invalid')) {
        context.log.debug(`the condition ${this.#decisionCondition} was not written: ${error.message}`);
        return undefined;
      }
      if (!isStatusError(error, 'NotFound')) throw error;
      throw new TerminalError(
        `the status of ${this.#type.kind} ${formatKey(keyOf(object))} cannot be written: ${resourceName(this.#type)} has no ` +
          'status subresource; add `subresources: { status: {} }` to its CustomResourceDefinition',
        { cause: error },
      );
    }
  }

  /** The nearer to what the server has, the fewer conflicts. A status that was not picked must be read. */
  async #latest(object: T, { client, cache }: ReconcileContext): Promise<T | undefined> {
    const key = keyOf(object);
    const found = isTrimmed(this.#type) ? await client.find(this.#type, key) : (cache.get(this.#type, key) ?? object);
    return found?.metadata.uid === object.metadata.uid ? found : undefined;
  }

  #isWritten(live: T, wanted: JsonRecord): boolean {
    const status = statusOf(live);
    if (deepEqual(status, wanted)) return true;
    const last = this.#written.get(live.metadata.uid ?? '');
    return last !== undefined && deepEqual(last.wanted, wanted) && deepEqual(last.became, status);
  }

  #note(written: T, wanted: JsonRecord): void {
    const { uid = '' } = written.metadata;
    const became = statusOf(written);
    this.#written.delete(uid);
    // What was stored as it was wanted needs no remembering.
    if (deepEqual(became, wanted)) return;
    this.#written.set(uid, { wanted, became });
    if (this.#written.size <= mostObjects) return;
    const oldest = this.#written.keys().next();
    if (oldest.done !== true) this.#written.delete(oldest.value);
  }
}
