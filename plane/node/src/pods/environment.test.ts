import assert from 'node:assert/strict';
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
  await missing(env('other', 'there'), "couldn't find key other in configmap n/there");
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
