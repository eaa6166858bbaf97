import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ConfigMap, configMaps, isStatusError, type Secret, secrets } from '@castellan/machinery';
import type { Controller, ReconcileContext } from '@castellan/runtime';
import {
  type BootedPlane,
  bootPlane,
  convergesFromCrashAtEveryWrite,
  convergesFromStaleReadsAndConflicts,
  type ReconcilerCase,
  secondReconcileWritesNothing,
} from '../src/index.js';

let plane: BootedPlane;
before(async () => {
  plane = await bootPlane();
});
after(() => plane.stop());

/** Makes a Secret of every ConfigMap's `text`, then says in the ConfigMap that it did. */
function mirror(reconcile: Controller['reconcile']): Controller {
  return { name: 'mirror', for: configMaps, owns: [secrets], reconcile };
}

function caseOf(controller: () => Controller): ReconcilerCase {
  return {
    controller,
    async arrange(client, namespace) {
      const source = { metadata: { namespace, name: 'source' }, data: { text: 'hello' } };
      await client.create(configMaps, source);
      return { namespace, name: 'source' };
    },
    async verify(client, namespace) {
      const mirrors = (await client.list(secrets, { namespace })).items;
      assert.deepEqual(
        mirrors.map(({ stringData, data }) => stringData ?? data),
        [{ text: 'aGVsbG8=' }],
      );
      const source = await client.get(configMaps, { namespace, name: 'source' });
      assert.equal(source.data?.mirrored, 'yes');
    },
  };
}

const good = mirror(async (key, context) => {
  const source = context.cache.get(configMaps, key);
  if (source === undefined) return undefined;
  const copy = context.cache.get(secrets, key);
  if (copy === undefined) await createMirror(source, 'source', context);
  else if (source.data?.mirrored !== 'yes') {
    await context.client.patch(configMaps, key, { type: 'merge', body: { data: { mirrored: 'yes' } } });
  }
  return undefined;
});

async function createMirror({ metadata, data }: ConfigMap, name: string, { client }: ReconcileContext): Promise<void> {
  const { namespace = '' } = metadata;
  const copy: Secret = { metadata: { namespace, name }, stringData: { text: data?.text ?? '' } };
  try {
    await client.create(secrets, copy);
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
}

test('a sound reconciler passes all stock checks', async () => {
  await secondReconcileWritesNothing(
    plane.client,
    caseOf(() => good),
  );
  assert.equal(
    await convergesFromCrashAtEveryWrite(
      plane.client,
      caseOf(() => good),
    ),
    2,
  );
  await convergesFromStaleReadsAndConflicts(
    plane.client,
    caseOf(() => good),
  );
});

test('one that writes what is there already is caught', async () => {
  const busy = mirror(async (key, context) => {
    await good.reconcile(key, context);
    const body = { metadata: { annotations: { 'seen-at': String(context.world.clock.monotonicNow()) } } };
    await context.client.patch(configMaps, key, { type: 'merge', body });
    return undefined;
  });
  await assert.rejects(
    secondReconcileWritesNothing(
      plane.client,
      caseOf(() => busy),
    ),
    /mirror did not settle in 100/,
  );
});

test('one that finishes its own half-done work only in memory is caught by a crash', async () => {
  const forgetful = () => {
    let isMade = false;
    return mirror(async (key, context) => {
      const source = context.cache.get(configMaps, key);
      const copy = context.cache.get(secrets, key);
      if (source === undefined || source.data?.mirrored === 'yes') return undefined;
      if (copy === undefined) await createMirror(source, 'source', context);
      else if (!isMade) return undefined;
      isMade = true;
      await context.client.patch(configMaps, key, { type: 'merge', body: { data: { mirrored: 'yes' } } });
      return undefined;
    });
  };
  await secondReconcileWritesNothing(plane.client, caseOf(forgetful));
  await assert.rejects(convergesFromCrashAtEveryWrite(plane.client, caseOf(forgetful)), /after a crash after 1 writes/);
});

test('one that takes a cache that lags for the truth is caught', async () => {
  let made = 0;
  const hasty = mirror(async (key, context) => {
    const source = context.cache.get(configMaps, key);
    if (source === undefined) return undefined;
    const copies = context.cache.list(secrets, { namespace: key.namespace ?? '' });
    if (copies.length === 0) await createMirror(source, `copy-${++made}`, context);
    else if (source.data?.mirrored !== 'yes') {
      await context.client.patch(configMaps, key, { type: 'merge', body: { data: { mirrored: 'yes' } } });
    }
    return undefined;
  });
  await secondReconcileWritesNothing(
    plane.client,
    caseOf(() => hasty),
  );
  await assert.rejects(
    convergesFromStaleReadsAndConflicts(
      plane.client,
      caseOf(() => hasty),
    ),
    /after a cache that lags/,
  );
});
