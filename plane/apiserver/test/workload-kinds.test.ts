import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusalOf } from './refusal-of.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const container = { name: 'c', image: 'registry.example/app:1' };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } };
const selector = { matchLabels: { app: 'a' } };
const apps = '/apis/apps/v1/namespaces/default';
const batch = '/apis/batch/v1/namespaces/default';
const merge = { 'content-type': 'application/merge-patch+json' };

test('a Deployment gets the defaults of its rollout, and its status is not the client’s', async () => {
  const body = { metadata: { name: 'a' }, spec: { selector, template }, status: { replicas: 9 } };
  const { status, json } = await api.send('POST', `${apps}/deployments`, body);
  assert.equal(status, 201);
  assert.equal(json.metadata.generation, 1);
  assert.deepEqual(json.status, {});
  const { template: made, ...spec } = json.spec;
  assert.deepEqual(spec, {
    replicas: 1,
    selector,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
  assert.equal(made.spec.restartPolicy, 'Always');
  assert.equal('serviceAccountName' in made.spec, false);
});

test('the scale of a Deployment shows its selector, and a change of it is a new generation', async () => {
  await api.send('POST', `${apps}/deployments`, { metadata: { name: 'scaled' }, spec: { selector, template } });
  const scale = `${apps}/deployments/scaled/scale`;
  assert.deepEqual((await api.send('GET', scale)).json.status, { replicas: 0, selector: 'app=a' });
  assert.equal((await api.send('PATCH', scale, { spec: { replicas: 3 } }, merge)).json.spec.replicas, 3);
  const { spec, metadata } = (await api.send('GET', `${apps}/deployments/scaled`)).json;
  assert.equal(spec.replicas, 3);
  assert.equal(metadata.generation, 2);
});

test('a workload whose selector does not select its pods is refused in kube-apiserver’s words', async () => {
  const body = { metadata: { name: 'b' }, spec: { selector: { matchLabels: { app: 'other' } }, template } };
  const refused = await api.send('POST', `${apps}/deployments`, body);
  assert.equal(refused.status, 422);
  assert.equal(
    refused.json.message,
    'Deployment.apps "b" is invalid: spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  );
});

test('of a StatefulSet only what can change without new pods’ identities may change', async () => {
  const claims = [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ];
  const spec = { serviceName: 'a', selector, template, volumeClaimTemplates: claims };
  const created = await api.send('POST', `${apps}/statefulsets`, { metadata: { name: 'a' }, spec });
  assert.equal(created.status, 201, created.text);
  assert.equal(created.json.spec.volumeClaimTemplates[0].spec.volumeMode, 'Filesystem');
  const path = `${apps}/statefulsets/a`;
  const refused = await api.send('PATCH', path, { spec: { podManagementPolicy: 'Parallel' } }, merge);
  assert.match(refused.json.message, /spec: Forbidden: updates to statefulset spec for fields other than 'replicas', /);
  assert.equal((await api.send('PATCH', path, { spec: { replicas: 3 } }, merge)).json.metadata.generation, 2);
});

test('a Job finds its pods by its own uid', async () => {
  const spec = { template: { spec: { restartPolicy: 'Never', containers: [container] } } };
  const { status, json } = await api.send('POST', `${batch}/jobs`, { metadata: { name: 'a' }, spec });
  assert.equal(status, 201);
  const { uid } = json.metadata;
  assert.deepEqual(json.spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } });
  assert.equal(json.spec.template.metadata.labels['batch.kubernetes.io/job-name'], 'a');
  assert.equal(json.spec.completions, 1);
});

test('a CronJob’s schedule is read before it is taken', async () => {
  const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } };
  const create = (name: string, schedule: string) =>
    api.send('POST', `${batch}/cronjobs`, { metadata: { name }, spec: { schedule, jobTemplate } });
  for (const [index, schedule] of ['*/5 * * * *', '@daily', '0 9-17 * jan-mar mon,fri', '0 0 1 */2 ?'].entries()) {
    const created = await create(`good-${index}`, schedule);
    assert.equal(created.status, 201, created.text);
  }
  for (const [schedule, problem] of [
    ['x', 'expected exactly 5 fields, found 1: [x]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ] as const) {
    const refused = await create('bad', schedule);
    assert.equal(
      refused.json.message,
      `CronJob.batch "bad" is invalid: spec.schedule: Invalid value: ${JSON.stringify(schedule)}: ${problem}`,
    );
  }
});

test('kubectl’s columns of a StatefulSet', async () => {
  const spec = { serviceName: 'a', selector, template, replicas: 3 };
  await api.send('POST', `${apps}/statefulsets`, { metadata: { name: 'shown' }, spec });
  const accept = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
  const { json } = await api.send('GET', `${apps}/statefulsets/shown`, undefined, accept);
  assert.deepEqual(
    json.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Ready', 'Age', 'Containers', 'Images'],
  );
  const { cells } = json.rows[0];
  assert.deepEqual([cells[0], cells[1], cells[3], cells[4]], ['shown', '0/3', 'c', 'registry.example/app:1']);
});

test('a NetworkPolicy’s exceptions lie within its block', async () => {
  const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
  const policy = (name: string, ipBlock: unknown) => ({
    metadata: { name },
    spec: { podSelector: {}, ingress: [{ from: [{ ipBlock }] }] },
  });
  const good = await api.send('POST', path, policy('a', { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] }));
  assert.equal(good.status, 201, good.text);
  const six = await api.send('POST', path, policy('b', { cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] }));
  assert.equal(six.status, 201, six.text);
  const refused = await api.send('POST', path, policy('c', { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] }));
  assert.match(
    refused.json.message,
    /except\[0\]: Invalid value: "11\.0\.0\.0\/16": must be a strict subset of `cidr`/,
  );
});

test('a host of an Ingress is a name, or stands for the names one level below', async () => {
  const path = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
  const ingress = (name: string, host: string) => ({ metadata: { name }, spec: { rules: [{ host }] } });
  for (const [name, host] of Object.entries({ one: 'a.example.com', many: '*.example.com' })) {
    const good = await api.send('POST', path, ingress(name, host));
    assert.equal(good.status, 201, good.text);
  }
  const refusals = await Promise.all(
    ['*.x.*', 'A_b', '10.0.0.1'].map(async (host) => {
      const { json } = await api.send('POST', path, ingress('bad', host));
      return json.details.causes.map(({ message }: { message: string }) => message.slice(0, 60));
    }),
  );
  assert.deepEqual(refusals, [
    ['Invalid value: "*.x.*": a wildcard DNS-1123 subdomain must s'],
    ['Invalid value: "A_b": a lowercase RFC 1123 subdomain must co'],
    ['Invalid value: "10.0.0.1": must be a DNS name, not an IP add'],
  ]);
});

test('a claim’s spec is decided once; a bound one may grow', async () => {
  const path = '/api/v1/namespaces/default/persistentvolumeclaims';
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'grows',
  };
  const grows = { metadata: { name: 'grows' }, provisioner: 'x.example/y', allowVolumeExpansion: true };
  await api.send('POST', '/apis/storage.k8s.io/v1/storageclasses', grows);
  const made = await api.send('POST', path, { metadata: { name: 'a' }, spec });
  assert.deepEqual(made.json.metadata.finalizers, ['kubernetes.io/pvc-protection'], made.text);
  const ask = (storage: string) =>
    api.send('PATCH', `${path}/a`, { spec: { resources: { requests: { storage } } } }, merge);
  assert.match((await ask('2Gi')).json.message, /spec is immutable after creation except resources.requests/);
  const bind = await api.send('PATCH', `${path}/a`, { spec: { volumeName: 'v' } }, merge);
  assert.equal(bind.status, 200, bind.text);
  await api.send('PATCH', `${path}/a/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }, merge);
  assert.equal((await ask('2Gi')).status, 200);
  assert.match((await ask('512Mi')).json.message, /field can not be less than status\.capacity/);
  await api.send('PATCH', '/apis/storage.k8s.io/v1/storageclasses/grows', { allowVolumeExpansion: false }, merge);
  assert.match((await ask('3Gi')).json.message, /the storageclass that provisions the pvc must support resize$/);
});

test('autoscalers of v1 and v2 are one resource', async () => {
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 };
  const made = await api.send('POST', path, { metadata: { name: 'h' }, spec });
  assert.deepEqual(made.json.spec, { minReplicas: 1, ...spec }, made.text);
  const { json } = await api.send('GET', `${path.replace('v1', 'v2')}/h`);
  const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
  assert.deepEqual(json.spec.metrics, [{ type: 'Resource', resource: cpu }]);
  const memory = { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } };
  const metrics = [{ type: 'Resource', resource: memory }];
  await api.send('PATCH', `${path.replace('v1', 'v2')}/h`, { spec: { metrics } }, merge);
  const old = await api.send('PATCH', `${path}/h`, { spec: { maxReplicas: 5 } }, merge);
  assert.equal(old.json.spec.maxReplicas, 5, old.text);
  const back = await api.send('GET', `${path.replace('v1', 'v2')}/h`);
  assert.deepEqual(back.json.spec.metrics, metrics);
});

test('what a StatefulSet’s claims say they are is no unknown field', async () => {
  const claims = [{ kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'data' }, spec: {} }];
  const spec = { serviceName: 'a', selector, template, volumeClaimTemplates: claims };
  const body = { metadata: { name: 'typed' }, spec };
  const created = await api.send('POST', `${apps}/statefulsets?fieldValidation=Strict`, body);
  assert.equal(created.status, 201, created.text);
  assert.equal(created.json.spec.volumeClaimTemplates[0].kind, 'PersistentVolumeClaim');
});

test('a LimitRange’s defaults come of its bounds, and must be within them', async () => {
  const path = '/api/v1/namespaces/default/limitranges';
  const range = (name: string, limit: unknown) => ({ metadata: { name }, spec: { limits: [limit] } });
  const good = await api.send('POST', path, range('a', { type: 'Container', max: { cpu: '2' }, min: { cpu: '1' } }));
  assert.deepEqual(good.json.spec.limits[0].default, { cpu: '2' });
  assert.deepEqual(good.json.spec.limits[0].defaultRequest, { cpu: '2' });
  const odd = await api.send('POST', path, range('b', { type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }));
  assert.match(odd.json.message, /min value 2 is greater than max value 1/);
});

test('what a container asks for beyond a LimitRange is told once for each of its limits', async () => {
  const namespace = '/api/v1/namespaces/limited';
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: 'limited' } });
  await api.send('POST', `${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
  const limit = { type: 'Container', max: { cpu: '1' }, min: { cpu: '50m' }, maxLimitRequestRatio: { cpu: '4' } };
  await api.send('POST', `${namespace}/limitranges`, { metadata: { name: 'l' }, spec: { limits: [limit] } });
  const refusal = async (resources: unknown) => {
    const spec = { containers: [{ name: 'c', image: 'i', resources }] };
    return (await api.send('POST', `${namespace}/pods`, { metadata: { name: 'p' }, spec })).json.message;
  };
  const forbidden = 'pods "p" is forbidden:';
  assert.equal(
    await refusal({ limits: { cpu: '2' } }),
    `${forbidden} maximum cpu usage per Container is 1, but limit is 2`,
  );
  assert.equal(
    await refusal({ requests: { cpu: '10m' }, limits: { cpu: '20m' } }),
    `${forbidden} minimum cpu usage per Container is 50m, but request is 10m`,
  );
  assert.equal(
    await refusal({ requests: { cpu: '100m' }, limits: { cpu: '1500m' } }),
    `${forbidden} [maximum cpu usage per Container is 1, but limit is 1500m, cpu max limit to request ratio per Container is 4, but provided ratio is 15.000000]`,
  );
});

test('what is missing of a workload is told as each kind tells it', async () => {
  const causes = (path: string, spec: object) => refusalOf(api, path, { metadata: { name: 'a' }, spec });
  const mismatch = 'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`';
  const containers = 'spec.template.spec.containers: Required value';
  assert.deepEqual(await causes(`${apps}/replicasets`, {}), ['spec.selector: Required value', mismatch, containers]);
  assert.deepEqual(await causes(`${apps}/daemonsets`, {}), [mismatch, containers]);
  const controllers = '/api/v1/namespaces/default/replicationcontrollers';
  assert.deepEqual(await causes(controllers, { minReadySeconds: -1 }), [
    'spec.selector: Required value',
    'spec.template: Required value',
    'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
  ]);
  assert.deepEqual(await refusalOf(api, `${apps}/controllerrevisions`, { metadata: { name: 'a' } }), [
    'data: Required value: data is mandatory',
  ]);
});

test('a selector that cannot be read hides what the template lacks', async () => {
  const body = {
    metadata: { name: 'a' },
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] }, template: { spec: {} } },
  };
  assert.deepEqual(
    (await refusalOf(api, `${apps}/deployments`, body)).map((cause) => cause.slice(0, 60)),
    [
      'spec.selector.matchExpressions[0].values: Required value: mu',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a',
    ],
  );
});

test('a DaemonSet whose pods are replaced neither before nor after is refused', async () => {
  const updateStrategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } };
  const body = { metadata: { name: 'a' }, spec: { selector, template, updateStrategy } };
  assert.deepEqual(await refusalOf(api, `${apps}/daemonsets`, body), [
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  ]);
});
