import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineKind, fieldError, isStatusError, s } from '@castellan/machinery';
import { controller, type Operator, settled, webhook } from '@castellan/runtime';
import { bootPlane, eventually } from '@castellan/testkit';

const Gadget = defineKind({
  group: 'hooks.castellan.dev',
  version: 'v1',
  kind: 'Gadget',
  spec: s.object({ size: s.integer() }),
  status: s.object({ seen: s.integer() }),
}).withVersion('v1alpha1', {
  spec: s.object({ count: s.integer() }),
  toHub: ({ spec }) => ({ spec: { size: spec.count } }),
  fromHub: ({ spec }) => ({ spec: { count: spec.size } }),
});

const operator: Operator = {
  name: 'gadgets',
  customResourceDefinitions: [Gadget.crd],
  controllers: [
    controller(Gadget, {
      name: 'gadgets',
      reconcile: ({ spec }, { status }) => {
        status({ seen: spec.size });
        return settled('it was seen');
      },
    }),
  ],
  webhooks: [
    webhook(Gadget, {
      validate: ({ spec }, { old }) =>
        old !== undefined && spec.size < old.spec.size
          ? { errors: [fieldError.forbidden('spec.size', 'may not shrink')] }
          : undefined,
    }),
  ],
  convertedKinds: [Gadget],
};

test('a plane runs the webhooks of its operators: what they refuse is not written, and what they convert is one object', async (t) => {
  const plane = await bootPlane({ operators: [operator] });
  t.after(() => plane.stop());
  const { client } = plane;
  const key = { namespace: 'default', name: 'a' };
  const { v1alpha1 } = Gadget.versions;
  const apiVersion = 'hooks.castellan.dev/v1alpha1';
  await client.create(v1alpha1, { apiVersion, kind: 'Gadget', metadata: key, spec: { count: 5 } });
  const made = await eventually(
    'the controller to have seen the gadget',
    async () => {
      const found = await client.get(Gadget, key);
      return found.status?.seen === 5 && found;
    },
    { deadlineMs: 20_000 },
  );
  assert.deepEqual(made.spec, { size: 5 });
  // The API server hears of what it is to ask a moment after it was written.
  await eventually(
    'a gadget that shrinks to be refused',
    () =>
      client.patch(Gadget, key, { type: 'merge', body: { spec: { size: 4 } } }, { dryRun: true }).then(
        () => false,
        (error: unknown) => {
          assert.ok(isStatusError(error, 'Invalid'));
          assert.equal(
            error.message,
            'admission webhook "validate.v1.gadgets.hooks.castellan.dev" denied the request: Gadget.hooks.castellan.dev "a" is invalid: spec.size: Forbidden: may not shrink',
          );
          return true;
        },
      ),
    { deadlineMs: 10_000 },
  );
  await client.patch(v1alpha1, key, { type: 'merge', body: { spec: { count: 6 } } });
  assert.deepEqual((await client.get(Gadget, key)).spec, { size: 6 });
});
