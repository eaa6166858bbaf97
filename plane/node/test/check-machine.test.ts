import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMachine } from '../src/index.js';
import { runCommand } from '../src/sandbox/command.js';
import { cannotRunPods } from './machine.js';

test('each finding about the machine has evidence, and each that is bad a next step', async () => {
  const findings = await checkMachine();
  assert.ok(findings.length > 8);
  for (const { name, ok, evidence, next } of findings) {
    assert.notEqual(evidence, '', name);
    assert.equal(next === '', ok, `${name}: a next step exactly when it is not in order`);
  }
});

test('where pods can run, everything that they must have is found in order, and nothing is left behind', {
  skip: cannotRunPods(),
}, async () => {
  const findings = await checkMachine();
  assert.deepEqual(
    findings.filter(({ ok, isOptional }) => !ok && !isOptional),
    [],
  );
  const { stdout } = await runCommand('ip', ['netns', 'list']);
  assert.ok(!stdout.includes(`castellan-doctor-${process.pid}`));
});
