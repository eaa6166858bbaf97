import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { EtcdRefusedError } from './admin/errors.js';
import { ClusterMemory } from './memory.js';

const refusedAdd = new EtcdRefusedError('cluster/member/add', 'etcdserver: unhealthy cluster');
const behind = new EtcdRefusedError(
  'cluster/member/promote',
  'etcdserver: can only promote a learner member which is in sync with leader',
);

test('members that answered at the first look hold nothing up', () => {
  const memory = new ClusterMemory(simulatedWorld(1).clock);
  memory.noteAnswers(['a', 'b']);
  assert.equal(memory.pause(), undefined);
});

test('after a member has appeared a change is asked for shortly before five seconds are over', async () => {
  const world = simulatedWorld(1);
  const memory = new ClusterMemory(world.clock);
  memory.noteAnswers(['a']);
  await world.advance(1000);
  memory.noteAnswers(['a', 'b']);
  assert.equal(memory.pause()?.forMs, 4700);
  await world.advance(4700);
  memory.noteAnswers(['a', 'b']);
  assert.equal(memory.pause(), undefined);
});

test('a member that was away counts from its return', async () => {
  const world = simulatedWorld(1);
  const memory = new ClusterMemory(world.clock);
  memory.noteAnswers(['a', 'b']);
  memory.noteAnswers(['a']);
  await world.advance(10_000);
  memory.noteAnswers(['a', 'b']);
  assert.equal(memory.pause()?.forMs, 4700);
});

test('after a refusal etcd is left alone for 200 ms', async () => {
  const world = simulatedWorld(1);
  const memory = new ClusterMemory(world.clock);
  memory.noteAnswers(['a']);
  memory.noteRefusal(refusedAdd);
  assert.match(memory.pause()?.reason ?? '', /until all members have been connected for 5 s/);
  await world.advance(200);
  assert.equal(memory.pause(), undefined);
});

test('a learner that etcd calls behind is so for 200 ms, which holds up nothing else', async () => {
  const world = simulatedWorld(1);
  const memory = new ClusterMemory(world.clock);
  memory.noteAnswers(['a']);
  memory.noteRefusal(behind);
  assert.equal(memory.wasLearnerBehind(), true);
  assert.equal(memory.pause(), undefined);
  await world.advance(200);
  assert.equal(memory.wasLearnerBehind(), false);
});
