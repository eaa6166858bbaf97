import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type Chart, HelmClient, type Manifest } from './helm-client.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
let namespace: string;
let count = 0;
before(async () => {
  server = await startServer();
});
after(() => server.stop());
beforeEach(async () => {
  count += 1;
  namespace = `helm-${count}`;
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
});

const labels = { 'app.kubernetes.io/name': 'web', 'app.kubernetes.io/managed-by': 'Helm' };

interface Values {
  readonly replicas: number;
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasExtra?: boolean;
}

/** A small chart as `helm template` renders it. */
function chart({ replicas, image, env, hasExtra = false }: Values): Chart {
  const group = `${namespace}.example.com`;
  const configMap = (name: string, annotations = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels, annotations },
    data: { image },
  });
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [{ name: 'web', image, env: Object.entries(env).map(([name, value]) => ({ name, value })) }],
        },
      },
    },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', labels },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
  const names = { plural: 'knobs', singular: 'knob', kind: 'Knob', listKind: 'KnobList' };
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { turns: { type: 'integer' }, side: { type: 'string' } } } },
  };
  return {
    crds: [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `knobs.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names,
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
        },
      },
    ],
    manifests: [
      configMap('settings'),
      ...(hasExtra ? [configMap('extra'), configMap('kept', { 'helm.sh/resource-policy': 'keep' })] : []),
      service,
      deployment,
      {
        apiVersion: `${group}/v1`,
        kind: 'Knob',
        metadata: { name: 'volume', labels },
        spec: hasExtra ? { turns: replicas, side: 'left' } : { turns: replicas },
      },
    ],
    hooks: [
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          name: 'migrate',
          annotations: {
            'helm.sh/hook': 'pre-install',
            'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
          },
        },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'migrate', image }] } } },
      },
    ],
  };
}

/** Plays the job controller, of which there is none here. */
async function finishJob(path: string): Promise<void> {
  const { json } = await server.send('GET', path);
  const now = '2026-01-01T00:00:00Z';
  const condition = (type: string) => ({ type, status: 'True', lastProbeTime: now, lastTransitionTime: now });
  const status = {
    ...json.status,
    startTime: now,
    completionTime: now,
    succeeded: 1,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  };
  const reply = await server.send('PUT', `${path}/status`, { ...json, status });
  assert.equal(reply.status, 200, reply.text);
}

async function live(path: string): Promise<Manifest> {
  const reply = await server.send('GET', path.replace('NS', namespace));
  return reply.status === 404 ? undefined : reply.json;
}

const deployment = '/apis/apps/v1/namespaces/NS/deployments/web';
const first: Values = { replicas: 2, image: 'web:1', env: { MODE: 'a', OLD: 'yes' }, hasExtra: true };
const second: Values = { replicas: 3, image: 'web:2', env: { NEW: 'yes', MODE: 'b' } };

test('a release is installed, upgraded, rolled back and uninstalled with the requests that Helm 3 makes', async () => {
  const helm = new HelmClient(server, namespace);
  await helm.install('demo', chart(first), finishJob);
  const installed = await live(deployment);
  assert.equal(
    await live('/apis/batch/v1/namespaces/NS/jobs/migrate'),
    undefined,
    'the hook is removed when it is done',
  );
  assert.deepEqual(
    (await helm.history('demo')).map(({ version, info }) => [version, info.status]),
    [[1, 'deployed']],
  );

  await helm.upgrade('demo', chart(second));
  const upgraded = await live(deployment);
  assert.equal(upgraded.spec.replicas, 3);
  assert.equal(upgraded.metadata.generation, 2);
  const [container] = upgraded.spec.template.spec.containers;
  assert.equal(container.image, 'web:2');
  assert.deepEqual(container.env, [
    { name: 'NEW', value: 'yes' },
    { name: 'MODE', value: 'b' },
  ]);
  assert.equal(await live('/api/v1/namespaces/NS/configmaps/extra'), undefined, 'what left the chart is removed');
  assert.ok(await live('/api/v1/namespaces/NS/configmaps/kept'), 'but not what is to be kept');
  assert.deepEqual((await live(`/apis/${namespace}.example.com/v1/namespaces/NS/knobs/volume`)).spec, { turns: 3 });

  await helm.rollback('demo', 1);
  const rolledBack = await live(deployment);
  assert.deepEqual(rolledBack.spec, installed.spec);
  assert.deepEqual(
    (await helm.history('demo')).map(({ version, info }) => [version, info.status]),
    [
      [1, 'superseded'],
      [2, 'superseded'],
      [3, 'deployed'],
    ],
  );

  await helm.uninstall('demo');
  assert.equal(await live(deployment), undefined);
  assert.equal(await live('/api/v1/namespaces/NS/services/web'), undefined);
  assert.deepEqual(await helm.history('demo'), []);
  assert.ok(await live('/api/v1/namespaces/NS/configmaps/kept'));
});

test('an upgrade takes back what others changed of the chart’s fields, and leaves what they added', async () => {
  const helm = new HelmClient(server, namespace);
  await helm.install('demo', chart(first), finishJob);
  const path = deployment.replace('NS', namespace);
  const patch = {
    metadata: { annotations: { injected: 'yes' } },
    spec: { replicas: 7, template: { spec: { containers: [{ name: 'sidecar', image: 'proxy:1' }] } } },
  };
  const headers = { 'content-type': 'application/strategic-merge-patch+json' };
  assert.equal((await server.send('PATCH', path, patch, headers)).status, 200);
  await helm.upgrade('demo', chart(second));
  const { metadata, spec } = await live(deployment);
  assert.equal(spec.replicas, 3);
  assert.equal(metadata.annotations.injected, 'yes');
  assert.deepEqual(
    spec.template.spec.containers.map(({ name, image }: Manifest) => [name, image]),
    [
      ['sidecar', 'proxy:1'],
      ['web', 'web:2'],
    ],
  );
  const { clusterIP } = (await live('/api/v1/namespaces/NS/services/web')).spec;
  assert.match(clusterIP, /^10\.96\./, 'what the server allocated stays');
});

test('Helm 4 applies by the server: it is told of conflicts, takes fields by force, and drops what left the chart', async () => {
  const helm = new HelmClient(server, namespace);
  const workloads = (values: Values) => chart(values).manifests.filter(({ kind }) => kind !== 'Knob');
  for (const { status, text } of await helm.serverSide(workloads(first))) assert.equal(status, 201, text);
  const path = deployment.replace('NS', namespace);
  const scaled = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 9 } };
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const taken = await server.send('PATCH', `${path}?fieldManager=scaler&force=true`, JSON.stringify(scaled), headers);
  assert.equal(taken.status, 200, taken.text);
  const replies = await helm.serverSide(workloads(second));
  const [conflict] = replies.filter(({ status }) => status === 409);
  assert.equal(conflict?.json.message, 'Apply failed with 1 conflict: conflict with "scaler": .spec.replicas');
  for (const { status, text } of await helm.serverSide(workloads(second), true)) assert.equal(status, 200, text);
  const { spec, metadata } = await live(deployment);
  assert.equal(spec.replicas, 3);
  assert.deepEqual(
    spec.template.spec.containers[0].env.map(({ name }: Manifest) => name),
    ['NEW', 'MODE'],
  );
  assert.deepEqual(
    metadata.managedFields.map(({ manager }: Manifest) => manager),
    ['helm'],
  );
});
