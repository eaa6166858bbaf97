import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Job, jobs, type Pod, pods } from '@castellan/machinery';
import fc from 'fast-check';
import { jobController } from '../src/jobs/job-controller.js';
import { planStatus } from '../src/jobs/job-status.js';
import { JobView } from '../src/jobs/job-view.js';
import { Bench } from './bench.js';
import { job, jobPod, startMs } from './job-objects.js';

type Move =
  | { readonly kind: 'starts' }
  | { readonly kind: 'ends'; readonly which: number; readonly phase: 'Succeeded' | 'Failed' }
  /** One pass that stops after the status is stored and so many finalizers are taken away. */
  | { readonly kind: 'pass'; readonly releases: number }
  | { readonly kind: 'crash before the status is stored' }
  /** A pod that holds nothing any more is deleted by somebody. */
  | { readonly kind: 'deleted'; readonly which: number };

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.constant({ kind: 'starts' } as const),
  fc.record({
    kind: fc.constant('ends' as const),
    which: fc.nat(9),
    phase: fc.constantFrom('Succeeded' as const, 'Failed' as const),
  }),
  fc.record({ kind: fc.constant('pass' as const), releases: fc.nat(4) }),
  fc.constant({ kind: 'crash before the status is stored' } as const),
  fc.record({ kind: fc.constant('deleted' as const), which: fc.nat(9) }),
);

class World {
  of: Job = job({ completions: 1_000, backoffLimit: 1_000 });
  readonly pods: Pod[] = [];
  readonly ended = { Succeeded: 0, Failed: 0 };
  #names = 0;

  move(next: Move): void {
    switch (next.kind) {
      case 'starts':
        this.pods.push(jobPod(`p${this.#names++}`));
        return;
      case 'ends':
        this.#end(next.which, next.phase);
        return;
      case 'pass':
        this.pass(next.releases);
        return;
      case 'deleted': {
        const free = this.pods.filter((pod) => pod.metadata.finalizers === undefined);
        const gone = free[next.which];
        if (gone !== undefined) this.pods.splice(this.pods.indexOf(gone), 1);
        return;
      }
      case 'crash before the status is stored':
        this.#plan();
    }
  }

  pass(mostReleases: number): void {
    const { status, releases } = this.#plan();
    this.of = { ...this.of, status };
    for (const pod of releases.slice(0, mostReleases)) {
      const { finalizers: _, ...metadata } = pod.metadata;
      this.pods[this.pods.indexOf(pod)] = { ...pod, metadata };
    }
  }

  #plan() {
    return planStatus(new JobView(this.of, [...this.pods]), undefined, startMs);
  }

  #end(which: number, phase: 'Succeeded' | 'Failed'): void {
    const running = this.pods.filter((pod) => pod.status?.phase === 'Running');
    const pod = running[which];
    if (pod === undefined) return;
    this.pods[this.pods.indexOf(pod)] = { ...pod, status: { ...pod.status, phase } };
    this.ended[phase] += 1;
  }
}

test('JB1 every pod that ended is counted once, wherever passes stop and whatever is deleted in between', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const world = new World();
      for (const next of moves) {
        world.move(next);
        const { succeeded = 0, failed = 0 } = world.of.status ?? {};
        assert.ok(succeeded <= world.ended.Succeeded && failed <= world.ended.Failed, 'never too many');
      }
      for (let pass = 0; pass < 3; pass++) world.pass(100);
      assert.equal(world.of.status?.succeeded ?? 0, world.ended.Succeeded);
      assert.equal(world.of.status?.failed ?? 0, world.ended.Failed);
      assert.deepEqual(world.of.status?.uncountedTerminatedPods, {});
    }),
  );
});

async function benchWith(...objects: readonly Pod[]): Promise<Bench> {
  const bench = new Bench(jobController());
  bench.server.serve(jobs);
  for (const object of objects) await bench.server.add(pods, object);
  return bench;
}

const key = { namespace: 'default', name: 'work' };

test('JB9 pods of a Job that is gone are let go, also when their owner reference was taken away', async () => {
  const { ownerReferences: _, ...metadata } = jobPod('b').metadata;
  const orphan = { ...jobPod('b'), metadata: { ...metadata, labels: { 'batch.kubernetes.io/job-name': 'work' } } };
  const bench = await benchWith(jobPod('a'), orphan);
  assert.deepEqual(bench.keysFor(pods, orphan), [key]);
  await bench.reconcile(key);
  const { items } = await bench.server.list(pods);
  assert.deepEqual(
    items.map(({ metadata: { finalizers = [] } }) => finalizers),
    [[], []],
  );
});

test('JB9 a Job that the cache does not show yet keeps its pods', async () => {
  const bench = await benchWith(jobPod('a'));
  await bench.sync();
  await bench.server.add(jobs, job());
  await bench.reconcileStale(key);
  const { items } = await bench.server.list(pods);
  assert.deepEqual(items[0]?.metadata.finalizers, ['batch.kubernetes.io/job-tracking']);
});

test('JB10 a Job that is managed by somebody else is left alone', async () => {
  const bench = await benchWith();
  await bench.server.add(jobs, job({ managedBy: 'example.com/queue' }));
  const before = bench.server.writes.length;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, before);
});
