import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
  await api.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
});
after(() => api.stop());

const pods = '/api/v1/namespaces/default/pods';
const base = { name: 'c', image: 'registry.example/app:1' };

/** What is wrong with a pod, without the words that every refusal begins with. */
async function problem(container: Record<string, unknown>, spec: Record<string, unknown> = {}): Promise<string> {
  const body = { metadata: { name: 'a' }, spec: { containers: [{ ...base, ...container }], ...spec } };
  const { json } = await api.send('POST', pods, body);
  return String(json.message).replace('Pod "a" is invalid: ', '');
}

test('probes have one handler, and numbers that make sense', async () => {
  const path = 'spec.containers[0].livenessProbe';
  assert.equal(await problem({ livenessProbe: {} }), `${path}: Required value: must specify a handler type`);
  const exec = { command: ['a'] };
  assert.equal(
    await problem({ livenessProbe: { exec, tcpSocket: { port: 1 } } }),
    `${path}.tcpSocket: Forbidden: may not specify more than 1 handler type`,
  );
  assert.equal(
    await problem({ livenessProbe: { exec, successThreshold: 2 } }),
    `${path}.successThreshold: Invalid value: 2: must be 1`,
  );
});

test('resources are quantities of known things, and requests are within limits', async () => {
  assert.match(
    await problem({ resources: { requests: { cpu: 'abc' } } }),
    /quantities must match the regular expression/,
  );
  assert.equal(
    await problem({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
  );
  assert.equal(
    await problem({ resources: { requests: { 'example.com/gpu': '1' } } }),
    'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
  );
});

test('what decides where a pod runs is read before it is taken', async () => {
  assert.equal(
    await problem({}, { tolerations: [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 }] }),
    'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
  );
  assert.equal(
    await problem(
      {},
      { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' }] },
    ),
    'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
  );
});

test('quantities are stored in their one way of writing', async () => {
  const resources = { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: 2 } };
  const body = { metadata: { name: 'amounts' }, spec: { containers: [{ ...base, resources }] } };
  const { status, json } = await api.send('POST', pods, body);
  assert.equal(status, 201, json.message);
  assert.deepEqual(json.spec.containers[0].resources, {
    requests: { cpu: '500m', memory: '1Gi' },
    limits: { cpu: '2' },
  });
});
