import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type PodView, planSet, type SetStep } from '../src/stateful-sets/plan-set.js';
import type { SetView } from '../src/stateful-sets/set-view.js';

/** What happens besides the planner: to the pod that a number picks, or to what is asked for. */
type Happening =
  | { readonly kind: 'serve' | 'stumble' | 'end' | 'vanish' | 'evict'; readonly pick: number }
  | { readonly kind: 'ask'; readonly set: Asked }
  | { readonly kind: 'update' }
  | { readonly kind: 'plan'; readonly steps: number };

interface Asked {
  readonly replicas: number;
  readonly start: number;
  readonly partition: number;
  readonly maxUnavailable: number;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  replicas: fc.nat(5),
  start: fc.nat(2),
  partition: fc.nat(4),
  maxUnavailable: fc.integer({ min: 1, max: 3 }),
});

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('serve' as const, 'stumble' as const, 'end' as const, 'vanish' as const, 'evict' as const),
      pick: fc.nat(20),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('ask' as const), set: asked }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'update' as const }) },
  // A pass may be cut short after any of its writes.
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('plan' as const), steps: fc.integer({ min: 1, max: 6 }) }) },
);

/** Pods as they are, with what is promised of them checked at each write of the planner. */
class ModelledSet {
  readonly #isOrdered: boolean;
  #asked: Asked;
  #revision = 1;
  #pods = new Map<number, PodView>();

  constructor(isOrdered: boolean, set: Asked) {
    this.#isOrdered = isOrdered;
    this.#asked = set;
  }

  happen(event: Happening): void {
    switch (event.kind) {
      case 'ask':
        this.#asked = event.set;
        return;
      case 'update':
        this.#revision += 1;
        return;
      case 'plan':
        this.pass(event.steps);
        return;
      default:
        this.#strike(event.kind, event.pick);
    }
  }

  /** Carries out at most so many steps of a plan; gives how many there were. */
  pass(atMost: number): number {
    const currentRevision = `r${Math.max(1, this.#revision - 1)}`;
    const observed = {
      pods: [...this.#pods.values()],
      currentRevision,
      updateRevision: this.#update,
      leftClaims: new Set<number>(),
    };
    const steps = planSet(this.#view, observed).phases.flat();
    for (const step of steps.slice(0, atMost)) this.#take(step);
    return steps.length;
  }

  /** Nobody interferes any more: everything that can become available does, what is to go goes, and what is broken is deleted by a person. */
  settle(): void {
    for (let round = 0; round < 200; round += 1) {
      for (const [ordinal, pod] of this.#pods) {
        if (pod.isTerminating) this.#pods.delete(ordinal);
        else if (pod.phase !== 'ended') this.#pods.set(ordinal, { ...pod, phase: 'running', isAvailable: true });
      }
      if (this.pass(Number.POSITIVE_INFINITY) === 0) break;
    }
    const { replicas, start, partition } = this.#asked;
    const ordinals = [...this.#pods.keys()].sort((a, b) => a - b);
    assert.deepEqual(
      ordinals,
      Array.from({ length: replicas }, (_, index) => start + index),
    );
    for (const pod of this.#pods.values()) {
      assert.ok(!isMissing(pod), `pod ${pod.ordinal} is missing in the end`);
      if (pod.ordinal >= start + partition) assert.equal(pod.revision, this.#update);
    }
  }

  #take(step: SetStep): void {
    const pod = this.#pods.get(step.ordinal);
    switch (step.kind) {
      case 'create':
        assert.equal(pod, undefined, `a second pod of ordinal ${step.ordinal}`);
        assert.ok(this.#isWanted(step.ordinal), 'a pod beyond the set');
        if (this.#isOrdered) this.#assertAllAvailable((ordinal) => ordinal < step.ordinal);
        this.#pods.set(step.ordinal, {
          ordinal: step.ordinal,
          revision: step.revision,
          phase: 'pending',
          isAvailable: false,
          isTerminating: false,
          isAsItShouldBe: true,
        });
        return;
      case 'delete':
        assert.ok(pod !== undefined && !pod.isTerminating, 'what is gone or going is deleted');
        this.#assertMayGo(pod, step);
        this.#pods.set(step.ordinal, { ...pod, isTerminating: true });
        return;
      case 'repair':
        assert.fail('nothing is to be repaired here');
    }
  }

  #assertMayGo(pod: PodView, { because }: SetStep & { readonly kind: 'delete' }): void {
    switch (because) {
      case 'it has ended':
        assert.equal(pod.phase, 'ended');
        return;
      case 'scale':
        assert.ok(!this.#isWanted(pod.ordinal), 'a pod that is wanted goes');
        if (!this.#isOrdered) return;
        this.#assertAllAvailable(() => true);
        assert.ok(
          [...this.#pods.keys()].every((ordinal) => this.#isWanted(ordinal) || ordinal <= pod.ordinal),
          'a higher one is there',
        );
        return;
      case 'update': {
        const { start, partition, maxUnavailable } = this.#asked;
        assert.notEqual(pod.revision, this.#update);
        assert.ok(pod.ordinal >= start + partition, 'a pod before the partition is updated');
        if (!isMissing(pod)) assert.ok(this.#missing() < maxUnavailable, 'too many are missing');
      }
    }
  }

  #assertAllAvailable(isMeant: (ordinal: number) => boolean): void {
    for (const ordinal of this.#wanted.filter(isMeant)) {
      const pod = this.#pods.get(ordinal);
      assert.ok(pod !== undefined && !isMissing(pod), `pod ${ordinal} is missing`);
    }
  }

  #missing(): number {
    return this.#wanted.filter((ordinal) => {
      const pod = this.#pods.get(ordinal);
      return pod === undefined || isMissing(pod);
    }).length;
  }

  #strike(kind: 'serve' | 'stumble' | 'end' | 'vanish' | 'evict', pick: number): void {
    const all = [...this.#pods.values()];
    const pod = all[pick % Math.max(1, all.length)];
    if (pod === undefined) return;
    const { ordinal } = pod;
    if (kind === 'evict') this.#pods.set(ordinal, { ...pod, isTerminating: true });
    else if (kind === 'vanish' && pod.isTerminating) this.#pods.delete(ordinal);
    else if (kind === 'end') this.#pods.set(ordinal, { ...pod, phase: 'ended', isAvailable: false });
    else if (kind === 'serve' && pod.phase !== 'ended')
      this.#pods.set(ordinal, { ...pod, phase: 'running', isAvailable: true });
    else if (kind === 'stumble' && pod.phase === 'running') this.#pods.set(ordinal, { ...pod, isAvailable: false });
  }

  get #wanted(): readonly number[] {
    const { replicas, start } = this.#asked;
    return Array.from({ length: replicas }, (_, index) => start + index);
  }

  get #update(): string {
    return `r${this.#revision}`;
  }

  get #view(): SetView {
    const { replicas, start, partition, maxUnavailable } = this.#asked;
    return {
      name: 'web',
      replicas,
      start,
      isOrdered: this.#isOrdered,
      minReadySeconds: 0,
      update: { kind: 'rolling', partition, maxUnavailable },
      retention: { deleteWithSet: false, deleteWhenScaled: false },
    };
  }

  #isWanted(ordinal: number): boolean {
    const { replicas, start } = this.#asked;
    return ordinal >= start && ordinal < start + replicas;
  }
}

function isMissing({ isAvailable, isTerminating }: PodView): boolean {
  return !isAvailable || isTerminating;
}

test('ST1, ST2, ST3, ST4: whatever happens between its writes, no promise is broken by one, and all settles when nothing happens any more', () => {
  const story = fc.array(happening, { maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(fc.boolean(), asked, story, (isOrdered, first, events) => {
      const set = new ModelledSet(isOrdered, first);
      for (const event of events) set.happen(event);
      set.settle();
    }),
    { numRuns: 2_000 },
  );
});
