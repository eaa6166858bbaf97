import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startServer } from './server-under-test.js';

const api = await startServer();
after(() => api.stop());

const storage = '/apis/storage.k8s.io/v1';
const merge = { 'content-type': 'application/merge-patch+json' };

test('a claim says how it is to be used and how much it asks for', async () => {
  const path = '/api/v1/namespaces/default/persistentvolumeclaims';
  const empty = await api.send('POST', path, { metadata: { name: 'a' }, spec: {} });
  assert.equal(
    empty.json.message,
    'PersistentVolumeClaim "a" is invalid: [spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value]',
  );
  const odd = await api.send('POST', path, {
    metadata: { name: 'a' },
    spec: { accessModes: ['Odd'], resources: { requests: { storage: '0' } }, volumeMode: 'Odd' },
  });
  assert.deepEqual(
    odd.json.details.causes.map(({ field }: { readonly field: string }) => field),
    ['spec.accessModes', 'spec.resources[storage]', 'spec.volumeMode'],
  );
});

test('a volume has one place, and a claim and a volume outlive their deletion until nobody uses them', async () => {
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } };
  const path = '/api/v1/persistentvolumes';
  const two = await api.send('POST', path, {
    metadata: { name: 'v' },
    spec: { ...spec, nfs: { server: 's', path: '/' } },
  });
  assert.match(two.json.message, /spec\.nfs: Forbidden: may not specify more than 1 volume type/);
  const made = await api.send('POST', path, { metadata: { name: 'v' }, spec });
  assert.deepEqual(made.json.metadata.finalizers, ['kubernetes.io/pv-protection'], made.text);
  const deleted = await api.send('DELETE', `${path}/v`);
  assert.equal(deleted.json.metadata.deletionGracePeriodSeconds, 0, deleted.text);
  assert.equal((await api.send('GET', `${path}/v`)).status, 200);
});

test('a volume says since when it is in its phase', async () => {
  const path = '/api/v1/persistentvolumes';
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } };
  await api.send('POST', path, { metadata: { name: 'timed' }, spec });
  const writeStatus = async (status: object) =>
    (await api.send('PATCH', `${path}/timed/status`, { status }, merge)).json.status;
  const long = { lastPhaseTransitionTime: '2001-01-01T00:00:00Z' };
  await writeStatus(long);
  assert.equal((await writeStatus({ phase: 'Available', ...long })).lastPhaseTransitionTime > '2001-01-02', true);
  const own = { lastPhaseTransitionTime: '2002-02-02T00:00:00Z' };
  assert.deepEqual(await writeStatus({ phase: 'Bound', ...own }), { phase: 'Bound', ...own });
  assert.deepEqual(await writeStatus({ message: 'x' }), { phase: 'Bound', message: 'x', ...own });
});

test('a driver is taken for one that attaches, and its columns say so', async () => {
  const made = await api.send('POST', `${storage}/csidrivers`, { metadata: { name: 'x.example' }, spec: {} });
  assert.deepEqual(made.json.spec, {
    attachRequired: true,
    podInfoOnMount: false,
    volumeLifecycleModes: ['Persistent'],
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
    seLinuxMount: false,
  });
  const table = await api.send('GET', `${storage}/csidrivers`, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  assert.deepEqual(table.json.rows[0].cells.slice(0, 7), [
    'x.example',
    true,
    false,
    false,
    '<unset>',
    false,
    'Persistent',
  ]);
  const changed = await api.send(
    'PATCH',
    `${storage}/csidrivers/x.example`,
    { spec: { attachRequired: false } },
    merge,
  );
  assert.match(changed.json.message, /spec\.attachedRequired: Invalid value: false: field is immutable/);
});

test('an attachment says what is to be attached where, once', async () => {
  const path = `${storage}/volumeattachments`;
  const bare = await api.send('POST', path, { metadata: { name: 'a' }, spec: { source: {} } });
  assert.match(
    bare.json.message,
    /spec\.attacher: Required value, spec\.source: Required value: .*, spec\.nodeName: Invalid value: ""/,
  );
  const spec = { attacher: 'x.example', nodeName: 'n', source: { persistentVolumeName: 'v' } };
  const made = await api.send('POST', path, { metadata: { name: 'a' }, spec });
  assert.deepEqual(made.json.status, { attached: false }, made.text);
  const moved = await api.send('PATCH', `${path}/a`, { spec: { nodeName: 'm' } }, merge);
  assert.match(
    moved.json.message,
    /spec: Invalid value: {"Attacher":"x\.example","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable$/,
  );
});

/** Who signs looks into it; the API server wants its form alone. */
const pem = Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----\n').toString(
  'base64',
);

test('a request for a certificate names who asks, and is approved in a place of its own', async () => {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const spec = { request: pem, signerName: 'example.com/s', usages: ['client auth'], groups: ['made-up'] };
  const made = await api.send('POST', path, { metadata: { name: 'r' }, spec });
  assert.ok(made.json.spec.groups.includes('system:masters') && !made.json.spec.groups.includes('made-up'), made.text);
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Fine' }];
  const body = { spec: { signerName: 'example.com/other' }, status: { conditions } };
  const approved = await api.send('PATCH', `${path}/r/approval`, body, merge);
  assert.equal(approved.json.spec.signerName, 'example.com/s', approved.text);
  const [condition] = approved.json.status.conditions;
  assert.deepEqual([condition.type, typeof condition.lastUpdateTime], ['Approved', 'string']);
});

test('the signer of a certificate is a domain of two parts and a path', async () => {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const refusal = async (signerName: string) => {
    const spec = { request: pem, signerName, usages: ['client auth'] };
    return (await api.send('POST', path, { metadata: { name: 's' }, spec })).json.details.causes[0].message;
  };
  const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  assert.equal(await refusal('plain'), `Invalid value: "plain": ${form}`);
  assert.equal(await refusal('a.b/c/d'), `Invalid value: "a.b/c/d": ${form}`);
  const short = 'should be a domain with at least two segments separated by dots';
  assert.equal(await refusal('example/x'), `Invalid value: "example": ${short}`);
  assert.match(
    await refusal('a_b.c/x'),
    /^Invalid value: "a_b\.c": validating label "a_b": a lowercase RFC 1123 label/,
  );
});

test('every group that is served has an APIService', async () => {
  const { json } = await api.send('GET', '/apis/apiregistration.k8s.io/v1/apiservices');
  const names = json.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name);
  for (const name of ['v1.', 'v1.apps', 'v2.autoscaling', 'v1.storage.k8s.io']) assert.ok(names.includes(name), name);
});

test('a time that is none is refused as Go refuses it, and another zone is the same time', async () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  const lease = (renewTime: string) => ({ metadata: { name: 'l' }, spec: { renewTime } });
  const odd = await api.send('POST', leases, lease('2020-13-01T00:00:00.000000Z'));
  assert.match(odd.json.message, /parsing time "2020-13-01T00:00:00\.000000Z": month out of range$/);
  const made = await api.send('POST', leases, lease('2020-01-01T01:00:00.123456+01:00'));
  assert.equal(made.json.spec.renewTime, '2020-01-01T00:00:00.123456Z', made.text);
});

test('a quota counts what an update adds', async () => {
  const quotas = '/api/v1/namespaces/default/resourcequotas';
  await api.send('POST', quotas, { metadata: { name: 'nodeports' }, spec: { hard: { 'services.nodeports': '1' } } });
  const services = '/api/v1/namespaces/default/services';
  const port = { name: 'a', port: 80 };
  for (const name of ['one', 'two']) {
    await api.send('POST', services, { metadata: { name }, spec: { ports: [port] } });
  }
  const open = { spec: { type: 'NodePort' } };
  assert.equal((await api.send('PATCH', `${services}/one`, open, merge)).status, 200);
  const refused = await api.send('PATCH', `${services}/two`, open, merge);
  assert.equal(
    refused.json.message,
    'services "two" is forbidden: exceeded quota: nodeports, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
  );
  const renamed = await api.send('PATCH', `${services}/one`, { metadata: { labels: { a: 'b' } } }, merge);
  assert.equal(renamed.status, 200, renamed.text);
});
