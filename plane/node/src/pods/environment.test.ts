import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import type { Container } from '@castellan/machinery';
import fc from 'fast-check';
import { ContainerConfigError, type EnvironmentSources, expand, resolveEnvironment } from './environment.js';

const sources: EnvironmentSources = {
  pod: { metadata: { name: 'a', namespace: 'n', uid: 'u', labels: { app: 'x' }, annotations: { 'a.b/c': 'd' } } },
  nodeName: 'node',
  hostIp: '10.0.0.1',
  podIp: '10.0.0.2',
  base: { PATH: '/bin' },
  configMap: async (name) => (name === 'there' ? { kind: 'ConfigMap', metadata: {}, data: { k: 'v' } } : undefined),
  secret: async (name) =>
    name === 'there'
      ? { kind: 'Secret', metadata: {}, data: { k: Buffer.from('hidden').toString('base64') } }
      : undefined,
};

function resolve(container: Partial<Container>) {
  return resolveEnvironment({ name: 'main', ...container }, sources);
}

test('N13 fields, config maps and secrets become variables, and later ones may refer to earlier ones', async () => {
  const environment = await resolve({
    envFrom: [{ prefix: 'C_', configMapRef: { name: 'there' } }, { secretRef: { name: 'there' } }],
    env: [
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'LABEL', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: 'NOTE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a.b/c']" } } },
      { name: 'LATER', value: '$(NAME)-$(AFTER)-$(C_k)' },
      { name: 'AFTER', value: 'x' },
      { name: 'MAYBE', valueFrom: { configMapKeyRef: { name: 'absent', key: 'k', optional: true } } },
    ],
  });
  assert.deepEqual(environment, {
    PATH: '/bin',
    C_k: 'v',
    k: 'hidden',
    NAME: 'a',
    LABEL: 'x',
    NOTE: 'd',
    LATER: 'a-$(AFTER)-v',
    AFTER: 'x',
  });
});

test('N14 a missing config map, secret or key is named', async () => {
  const missing = async (container: Partial<Container>, message: string) =>
    await assert.rejects(
      resolve(container),
      (error) => error instanceof ContainerConfigError && error.message === message,
    );
  await missing({ envFrom: [{ secretRef: { name: 'absent' } }] }, 'secret "absent" not found');
  const env = (key: string, name: string) => ({ env: [{ name: 'X', valueFrom: { configMapKeyRef: { name, key } } }] });
  await missing(env('k', 'absent'), 'configmap "absent" not found');
  await missing(env('other', 'there'), "couldn't find key other in ConfigMap n/there");
});

test('a dollar sign before a parenthesis escapes, unknown names stay, and text without a dollar sign is left alone', () => {
  assert.equal(expand('$(A) $$(A) $(B) $A $', { A: '1' }), '1 $(A) $(B) $A $');
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes('$')),
      (text) => expand(text, { A: '1' }) === text,
    ),
  );
});

test('resources are told in whole divisors, and what has no limit is told what the machine has', async () => {
  const resources = { requests: { cpu: '250m' }, limits: { memory: '64Mi', cpu: '1500m' } };
  const field = (resource: string, divisor?: string) => ({
    name: `${resource}/${divisor}`,
    valueFrom: { resourceFieldRef: { resource, ...(divisor === undefined ? {} : { divisor }) } },
  });
  const env = [
    field('limits.cpu'),
    field('limits.cpu', '1m'),
    field('requests.cpu', '1m'),
    field('limits.memory', '1Mi'),
  ];
  const values = Object.entries(await resolve({ resources, env })).map(([, value]) => value);
  assert.deepEqual(values.slice(1), ['2', '1500', '250', '64']);
  const unlimited = await resolve({ env: [field('limits.memory')] });
  assert.equal(unlimited['limits.memory/undefined'], String(totalmem()));
  await assert.rejects(resolve({ env: [field('limits.colour')] }), /unsupported container resource : limits.colour/);
});
