import type { KubernetesObject, ResourceType } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { ObjectContext, StatusOf } from '../controller/context.js';
import type { Controller, DeclaredWrite, EventNote } from '../controller.js';
import type { Decision } from '../decision.js';
import type { Invariant, Model } from './planner.js';

/**
 * An operator as three functions and, to explore it, a model. `observe` and `act` touch the world; `plan`, `desired`,
 * `status`, `events` and the model are pure, and decide everything.
 *
 * `Seen` is what `observe` gives. It may hold more than the `Observation` that `plan` is given: what `act` needs in order to
 * carry a step out, such as the address to send it to. `Memory` is what an operator's process remembers of one object
 * between passes; it is lost when the process ends, so nothing that must be right may depend on it.
 */
export interface PlannerDefinition<
  T extends KubernetesObject,
  Desired,
  Observation,
  Step,
  State,
  Seen extends Observation,
  Memory,
> extends Pick<Controller<T>, 'owns' | 'watches' | 'indexes' | 'channels' | 'when' | 'debounceMs'> {
  /** As in logs, metrics and events: lower case, one word. */
  readonly name: string;
  readonly for: ResourceType<T>;
  /** What `act` writes besides what it owns. */
  readonly writes?: readonly DeclaredWrite[];
  /** Objects that are looked after at once; 1 by default. */
  readonly concurrency?: number;
  /** A pass that takes longer is aborted and counted as failed; 60 s by default. */
  readonly deadlineMs?: number;
  readonly timing?: PassTiming;
  /**
   * Keeps an object that is being deleted, by a finalizer, until `plan` is settled about it; `desired` sees its
   * `deletionTimestamp`. Without it such objects are left to the garbage collector, which takes what they own.
   */
  readonly plansDeletion?: boolean;
  /** A new memory for an object that this process has not seen before, under its uid. */
  remember?(object: T, world: World): Memory;
  /** What the object asks for; what is wrong with it is part of that, for `plan` to say. */
  desired(object: T): Desired;
  /** Reads only. What is missing or did not answer is said to be unknown, not guessed. */
  observe(object: T, context: PassContext<T, Memory>): Promise<Seen>;
  plan(desired: Desired, observation: Observation): Decision<Step>;
  /** One write, which done twice is done once. Throws `NotNowError` where the world refuses it for the moment. */
  act(step: Step, context: ActContext<T, Seen, Memory>): Promise<void>;
  /**
   * The whole status after this pass, written when it differs. By default three conditions that general tools wait for
   * (kstatus of sigs.k8s.io/cli-utils): `Ready`, `Reconciling` and `Stalled`, with the decision's reason as their message.
   */
  status?(pass: Pass<T, Desired, Seen, Step>): StatusOf<T>;
  /** What people are told of this pass beside that it is blocked, which is said anyway; `standardEvents` by default. */
  events?(pass: Pass<T, Desired, Seen, Step>): readonly EventNote[];
  /** The step as people would say it, in the imperative: "add m1 to the members". Its JSON by default. */
  describeStep?(step: Step): string;
  readonly model?: PlannerModel<Desired, State, Observation, Step>;
  readonly invariants?: readonly Invariant<Desired, State, Step>[];
}

/** When an object is looked at again, if nothing that is watched changes before; in milliseconds. */
export interface PassTiming {
  /** After a step: its effect is looked for at once. 50 by default. */
  readonly afterStepMs?: number;
  /** While settled or blocked. When absent, only a change brings the next look, and a minute when blocked. */
  readonly whenQuietMs?: number;
  /** A `wait` is never longer than this; as long as it says when absent. */
  readonly longestWaitMs?: number;
}

/** What a pass may use: all that a reconcile of one object may, and what this process remembers of the object. */
export interface PassContext<T extends KubernetesObject, Memory>
  extends Omit<ObjectContext<T>, 'status' | 'condition'> {
  readonly memory: Memory;
}

export interface ActContext<T extends KubernetesObject, Seen, Memory> extends PassContext<T, Memory> {
  readonly object: T;
  /** What the step was decided on. */
  readonly seen: Seen;
}

/** One pass over one object, as far as it has come. */
export interface Pass<T extends KubernetesObject, Desired, Seen, Step> {
  /** As it was before the pass. */
  readonly object: T;
  readonly desired: Desired;
  readonly seen: Seen;
  /** `wait` where the step that was decided could not be carried out now. */
  readonly decision: Decision<Step>;
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

/** A `Model` that also says where it may start and where it should end, so that it can be explored without further ado. */
export interface PlannerModel<Desired, State, Observation, Step> extends Model<Desired, State, Observation, Step> {
  /** What may be asked for, within a bound such as a number of members. */
  desires(bound: number): readonly Desired[];
  /** What may be there when the operator first looks, within the bound; the first one is the world with nothing in it. */
  starts(bound: number): readonly State[];
  /** Whether a state in which nothing more happens is what was desired: the truth that `settled` must agree with. */
  isGoal(state: State, desired: Desired): boolean;
  /** Whether no planner could do more without a person: only there may ours be blocked. Never, when absent. */
  isBeyondRepair?(state: State, desired: Desired): boolean;
  /** The state that an observation stands for, for forecasts of what is there already. */
  assume?(observation: Observation, desired: Desired): State;
}
