import type { Decision } from '../decision.js';
import type { Invariant, Model, Planner } from './planner.js';
import { findUnsettling } from './settling.js';
import { formatTrace, type TraceLine } from './trace.js';

export interface ExploreOptions<Desired, State, Observation, Step> {
  readonly planner: Planner<Desired, Observation, Step>;
  readonly model: Model<Desired, State, Observation, Step>;
  readonly desired: Desired;
  readonly starts: readonly State[];
  readonly invariants: readonly Invariant<Desired, State, Step>[];
  /** How many of the model's faults may happen on one path. */
  readonly faults: number;
  /** The planner may act on what it observed up to this many moves ago, its own writes among them; 0 is always fresh. */
  readonly staleness: number;
  /** Exploration stops (and says so) after this many states. */
  readonly maxStates: number;
  /** Whether a state in which nothing more happens is what was desired: the truth that `settled` must agree with. */
  isGoal(state: State): boolean;
  /** Whether no planner could do more without a person: only in such states may ours be blocked. */
  isBeyondRepair(state: State): boolean;
}

export interface Exploration {
  /** Different states of the world that were reached. */
  readonly states: number;
  /** Different pairs of a state and a decision made earlier and not yet carried out. */
  readonly staleSituations: number;
  readonly transitions: number;
  /** False when `maxStates` ended it early; then liveness was not judged. */
  readonly isComplete: boolean;
  /** One per broken invariant, with a trace of fewest faults and, among those, fewest moves. */
  readonly violations: readonly Violation[];
}

export interface Violation {
  readonly kind: 'safety' | 'liveness';
  /** The invariant's name; for liveness, the rule that does not hold. */
  readonly rule: string;
  readonly message: string;
  /** Numbered moves from the start to where the rule breaks, one per line. */
  readonly trace: string;
}

/**
 * Breadth-first over every state that the planner, the world and a bounded number of faults can reach together.
 *
 * Safety: every move is shown to every invariant. A step is taken on a fresh observation, and again on each one that is
 * up to `staleness` moves old; it is carried out in full and, by the model's prefixes, in part.
 *
 * Liveness: once faults have stopped and observations are fresh, every order of the moves that remain possible ends,
 * and ends in a goal (or beyond repair, where the planner says that it is blocked). So neither the model's `progress`
 * nor the planner may go in circles, and every `wait` waits for something that can happen.
 *
 * The order is by faults used, then by length of path: each state is expanded once, with the most faults left to it.
 */
export function explore<Desired, State, Observation, Step>(
  options: ExploreOptions<Desired, State, Observation, Step>,
): Exploration {
  const exploration = new Explorer(options);
  return exploration.run();
}

/** One reached situation: a state, and possibly a step that was decided `age` moves earlier. */
interface Node<State, Step> {
  readonly state: State;
  readonly faults: number;
  readonly stale: { readonly step: Step; readonly reason: string; readonly age: number } | undefined;
  readonly parent: Node<State, Step> | undefined;
  readonly via: TraceLine | undefined;
  /** The number of this state in the graph of fresh, faultless moves; -1 when `stale` is set. */
  readonly id: number;
}

class Explorer<Desired, State, Observation, Step> {
  readonly #options: ExploreOptions<Desired, State, Observation, Step>;
  /** Situations to expand, by faults used. */
  readonly #queues: Node<State, Step>[][];
  readonly #ids = new Map<string, number>();
  readonly #nodes: Node<State, Step>[] = [];
  readonly #decisions: Decision<Step>['kind'][] = [];
  /** For each state, the states that fresh and faultless moves lead to. */
  readonly #successors: number[][] = [];
  /** For each situation, how old its decision was when it was first met. */
  readonly #staleAges = new Map<string, number>();
  readonly #violations = new Map<string, Violation>();
  #transitions = 0;

  constructor(options: ExploreOptions<Desired, State, Observation, Step>) {
    this.#options = options;
    this.#queues = Array.from({ length: options.faults + 1 }, () => []);
  }

  run(): Exploration {
    for (const start of this.#options.starts) this.#reach(start, undefined, undefined, 0);
    const isComplete = this.#expandAll();
    if (isComplete) this.#judgeLiveness();
    return {
      states: this.#nodes.length,
      staleSituations: this.#staleAges.size,
      transitions: this.#transitions,
      isComplete,
      violations: [...this.#violations.values()],
    };
  }

  #expandAll(): boolean {
    for (const queue of this.#queues) {
      // The queue grows while it is walked; a for-of over an array sees what is pushed.
      for (const node of queue) {
        if (node.stale === undefined) this.#expandFresh(node);
        else this.#expandStale(node, node.stale);
        if (this.#nodes.length >= this.#options.maxStates) return false;
      }
      queue.length = 0;
    }
    return true;
  }

  #expandFresh(node: Node<State, Step>): void {
    const { planner, model, desired, staleness } = this.#options;
    const decision = planner.plan(desired, model.observe(node.state, desired));
    this.#decisions[node.id] = decision.kind;
    if (decision.kind === 'blocked' && !this.#options.isBeyondRepair(node.state)) {
      const message = `the planner gives up (${decision.reason}) where it need not`;
      this.#violate('liveness', 'blocked only beyond repair', message, node, undefined);
    }
    const decided = decision.kind === 'step' ? decision : undefined;
    this.#eachMove(node, decided, (state, via, faults, isLive) => {
      this.#check(node, state, via, via.kind.startsWith('step') ? decided?.step : undefined);
      const id = this.#reach(state, node, via, faults);
      if (isLive) this.#successors[node.id]?.push(id);
      if (decided !== undefined && staleness > 0) this.#carry(node, state, via, faults, { ...decided, age: 1 });
    });
  }

  #expandStale(node: Node<State, Step>, stale: NonNullable<Node<State, Step>['stale']>): void {
    const { planner, model, desired, staleness } = this.#options;
    for (const after of model.apply(node.state, stale.step, desired)) {
      const via: TraceLine = { kind: 'stale step', text: this.#say(stale.step), reason: stale.reason, age: stale.age };
      this.#check(node, after, via, stale.step);
      this.#reach(after, node, via, node.faults);
    }
    if (stale.age >= staleness) return;
    const decision = planner.plan(desired, model.observe(node.state, desired));
    const decided = decision.kind === 'step' ? decision : undefined;
    // Decided again just now, it is younger, and carried on from there.
    if (decided !== undefined && this.#isSame(node.state, decided.step, stale.step)) return;
    // The moves themselves were checked, or will be, where this state is expanded without the old decision.
    this.#eachMove(node, decided, (state, via, faults) => {
      this.#carry(node, state, via, faults, { ...stale, age: stale.age + 1 });
    });
  }

  /** Calls `visit` with everything that can happen next: the fresh step, the world's moves, and faults within budget. */
  #eachMove(
    node: Node<State, Step>,
    decided: (Decision<Step> & { readonly kind: 'step' }) | undefined,
    visit: (state: State, via: TraceLine, faults: number, isLive: boolean) => void,
  ): void {
    const { model, desired } = this.#options;
    if (decided !== undefined) {
      const text = this.#say(decided.step);
      for (const [index, after] of model.apply(node.state, decided.step, desired).entries()) {
        const kind = index === 0 ? 'step' : 'step in part';
        const via: TraceLine = { kind, text, reason: decided.reason };
        visit(after, via, node.faults, index === 0);
      }
    }
    for (const move of model.progress(node.state)) {
      visit(move.state, { kind: 'world', text: move.name }, node.faults, true);
    }
    if (node.faults >= this.#options.faults) return;
    for (const move of model.faults(node.state)) {
      visit(move.state, { kind: 'fault', text: move.name }, node.faults + 1, false);
    }
  }

  /** The number of `state`, which is put in the queue when it is new. */
  #reach(state: State, parent: Node<State, Step> | undefined, via: TraceLine | undefined, faults: number): number {
    this.#transitions++;
    const key = this.#options.model.fingerprint(state);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#nodes.length;
    const node = { state, faults, stale: undefined, parent, via, id };
    this.#ids.set(key, id);
    this.#nodes.push(node);
    this.#successors.push([]);
    this.#queues[faults]?.push(node);
    return id;
  }

  /** Notes that in `state` a step decided earlier may still be carried out. A younger decision covers an older one. */
  #carry(
    parent: Node<State, Step>,
    state: State,
    via: TraceLine,
    faults: number,
    decided: NonNullable<Node<State, Step>['stale']>,
  ): void {
    const key = this.#options.model.fingerprint(state, decided.step);
    const known = this.#staleAges.get(key);
    if (known !== undefined && known <= decided.age) return;
    this.#staleAges.set(key, decided.age);
    this.#queues[faults]?.push({ state, faults, stale: decided, parent, via, id: -1 });
  }

  #isSame(state: State, one: Step, other: Step): boolean {
    const { model } = this.#options;
    return model.fingerprint(state, one) === model.fingerprint(state, other);
  }

  #check(node: Node<State, Step>, after: State, via: TraceLine, step: Step | undefined): void {
    const { invariants, desired } = this.#options;
    const base = { before: node.state, after, desired, age: via.age ?? 0 };
    const move = step === undefined ? base : { ...base, step };
    for (const invariant of invariants) {
      const message = invariant.violation(move);
      if (message !== undefined) this.#violate('safety', invariant.name, message, node, { via, state: after });
    }
  }

  #judgeLiveness(): void {
    const found = findUnsettling(this.#successors, (id) => this.#endFault(id));
    if (found === undefined) return;
    const node = this.#nodes[found.id];
    if (node === undefined) return;
    const rule = found.why === undefined ? 'settles' : found.why.rule;
    const message = found.why?.message ?? 'fresh observations and no more faults, and yet it goes round in a circle';
    const circle = found.circle.map((id) => this.#nodes[id]).filter((each) => each !== undefined);
    this.#violate('liveness', rule, message, node, undefined, circle);
  }

  /** Why nothing more happens in this state although something should, or `undefined` when that is well. */
  #endFault(id: number): { rule: string; message: string } | undefined {
    const node = this.#nodes[id];
    if (node === undefined) return undefined;
    const kind = this.#decisions[id];
    if (kind === 'wait') {
      return { rule: 'waits only for what can happen', message: 'the planner waits, and nothing can happen any more' };
    }
    if (kind === 'settled' && !this.#options.isGoal(node.state)) {
      return { rule: 'settled is the goal', message: 'the planner is settled, but this is not what was desired' };
    }
    return undefined;
  }

  #violate(
    kind: Violation['kind'],
    rule: string,
    message: string,
    node: Node<State, Step>,
    last: { readonly via: TraceLine; readonly state: State } | undefined,
    circle: readonly Node<State, Step>[] = [],
  ): void {
    if (this.#violations.has(rule)) return;
    const path: { via: TraceLine | undefined; state: string }[] = [];
    for (let at: Node<State, Step> | undefined = node; at !== undefined; at = at.parent) {
      path.unshift({ via: at.via, state: this.#describe(at.state) });
    }
    if (last !== undefined) path.push({ via: last.via, state: this.#describe(last.state) });
    const round = circle.map((each) => ({ via: this.#explain(each), state: this.#describe(each.state) }));
    this.#violations.set(rule, { kind, rule, message, trace: formatTrace(path, round) });
  }

  /** What the planner makes of a state, for the states of a circle. */
  #explain(node: Node<State, Step>): TraceLine {
    const { planner, model, desired } = this.#options;
    const decision = planner.plan(desired, model.observe(node.state, desired));
    const text = decision.kind === 'step' ? this.#say(decision.step) : decision.kind;
    return { kind: 'plan', text, reason: decision.reason };
  }

  #describe(state: State): string {
    return this.#options.model.describe?.(state) ?? this.#options.model.fingerprint(state);
  }

  #say(step: Step): string {
    return this.#options.model.describeStep?.(step) ?? JSON.stringify(step);
  }
}
