import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, send, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

const accounts = '/api/v1/namespaces/default/serviceaccounts';

async function createAccount(name: string): Promise<string> {
  const created = await server.send('POST', accounts, { metadata: { name } });
  assert.equal(created.status, 201, created.text);
  return created.json.metadata.uid;
}

async function issue(name: string, spec: unknown = {}): Promise<string> {
  const issued = await server.send('POST', `${accounts}/${name}/token`, { spec });
  assert.equal(issued.status, 201, issued.text);
  return issued.json.status.token;
}

async function whoAmI(token: string) {
  const session = connect(server.url, { ca: server.certificates.caCertificate });
  try {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const headers = { authorization: `Bearer ${token}` };
    return await send(session, { method: 'POST', path, body: {}, headers });
  } finally {
    session.destroy();
  }
}

test('a token speaks for its account until the account is gone', async () => {
  const uid = await createAccount('a');
  const token = await issue('a');
  const { json } = await whoAmI(token);
  assert.equal(json.status.userInfo.username, 'system:serviceaccount:default:a');
  assert.equal(json.status.userInfo.uid, uid);
  assert.deepEqual(json.status.userInfo.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ]);
  await server.send('DELETE', `${accounts}/a`);
  assert.equal((await whoAmI(token)).status, 401);
  await createAccount('a');
  assert.equal((await whoAmI(token)).status, 401, 'another account of the same name is another account');
});

test('a token that is changed in any part is refused', async () => {
  await createAccount('b');
  const [head, body, signature] = (await issue('b')).split('.');
  const claims = JSON.parse(Buffer.from(String(body), 'base64url').toString('utf8'));
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:kube-system:b' }));
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none' }));
  const tokens = [
    `${head}.${forged.toString('base64url')}.${signature}`,
    `${unsigned.toString('base64url')}.${body}.`,
    `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    `${head}.${body}`,
    'x',
  ];
  for (const token of tokens) assert.equal((await whoAmI(token)).status, 401);
});

test('a token with anything beside its three parts is refused, though a lenient decoder would skip it', async () => {
  await createAccount('strict');
  const token = await issue('strict');
  assert.equal((await whoAmI(token)).status, 201);
  for (const changed of [`${token}=`, `${token}~`, `${token}.`, token.replace('.', '.~')]) {
    assert.equal((await whoAmI(changed)).status, 401, changed.slice(-5));
  }
});

test('a token bound to a pod names it, and ends with it', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  await createAccount('c');
  const spec = { serviceAccountName: 'c', containers: [{ name: 'c', image: 'i' }] };
  const pod = await server.send('POST', pods, { metadata: { name: 'p' }, spec });
  assert.equal(pod.status, 201, pod.text);
  const token = await issue('c', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } });
  const { extra } = (await whoAmI(token)).json.status.userInfo;
  assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['p']);
  assert.deepEqual(extra['authentication.kubernetes.io/pod-uid'], [pod.json.metadata.uid]);
  await server.send('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 });
  assert.equal((await whoAmI(token)).status, 401);
});

test('a token for somebody else is none for the API server', async () => {
  await createAccount('d');
  const token = await issue('d', { audiences: ['vault'] });
  assert.equal((await whoAmI(token)).status, 401);
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
  const review = await server.send('POST', reviews, { spec: { token, audiences: ['vault', 'other'] } });
  assert.equal(review.json.status.authenticated, true);
  assert.deepEqual(review.json.status.audiences, ['vault']);
  const own = await server.send('POST', reviews, { spec: { token } });
  assert.equal(own.json.status.authenticated, undefined);
  assert.match(own.json.status.error, /invalid for the target audiences/);
});

test('a token for less than ten minutes is refused', async () => {
  await createAccount('e');
  const refused = await server.send('POST', `${accounts}/e/token`, { spec: { expirationSeconds: 60 } });
  assert.equal(refused.status, 422);
  assert.match(refused.json.message, /may not specify a duration less than 10 minutes/);
});

test("a token of a pod's own volume is told to end in an hour and holds for a year, but not longer than its pod", async () => {
  const pods = '/api/v1/namespaces/default/pods';
  await createAccount('f');
  const spec = { serviceAccountName: 'f', containers: [{ name: 'c', image: 'i' }] };
  const { json: pod } = await server.send('POST', pods, { metadata: { name: 'q' }, spec });
  const [volume] = pod.spec.volumes;
  assert.match(volume.name, /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const { expirationSeconds, path } = volume.projected.sources[0].serviceAccountToken;
  assert.deepEqual([expirationSeconds, path], [3607, 'token']);
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'q', uid: pod.metadata.uid };
  const asked = { spec: { expirationSeconds, boundObjectRef } };
  const { json: issued } = await server.send('POST', `${accounts}/f/token`, asked);
  const { token, expirationTimestamp } = issued.status;
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString('utf8'));
  assert.equal(claims.exp - claims.iat, 31_536_000);
  assert.equal(claims['kubernetes.io'].warnafter - claims.iat, 3607);
  assert.ok(Math.abs(Date.parse(expirationTimestamp) / 1000 - claims.iat - 3607) <= 1);
  assert.equal((await whoAmI(token)).status, 201);
  await server.send('DELETE', `${pods}/q`, { gracePeriodSeconds: 0 });
  await server.send('POST', pods, { metadata: { name: 'q' }, spec });
  assert.equal((await whoAmI(token)).status, 401, 'another pod of the same name is another pod');
});

test('a pod or its account may do without a token, and a container keeps what it mounts at its place', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  await server.send('POST', accounts, { metadata: { name: 'g' }, automountServiceAccountToken: false });
  const place = '/var/run/secrets/kubernetes.io/serviceaccount';
  const mount = { name: 'v', mountPath: place };
  const container = { name: 'c', image: 'i' };
  const volumesOf = async (spec: object) => {
    const { json } = await server.send('POST', `${pods}?dryRun=All`, { metadata: { name: 'r' }, spec });
    return (json.spec.volumes ?? []).map(({ name }: { name: string }) => name.replace(/-[a-z0-9]{5}$/, ''));
  };
  assert.deepEqual(await volumesOf({ serviceAccountName: 'g', containers: [container] }), []);
  const overridden = { serviceAccountName: 'g', automountServiceAccountToken: true, containers: [container] };
  assert.deepEqual(await volumesOf(overridden), ['kube-api-access']);
  assert.deepEqual(await volumesOf({ automountServiceAccountToken: false, containers: [container] }), []);
  const volumes = [{ name: 'v', emptyDir: {} }];
  assert.deepEqual(await volumesOf({ volumes, containers: [{ ...container, volumeMounts: [mount] }] }), ['v']);
});

test('an account can forbid the secrets that it does not name', async () => {
  const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
  await server.send('POST', accounts, { metadata: { name: 'h', annotations }, secrets: [{ name: 'known' }] });
  const spec = (secretName: string) => ({
    serviceAccountName: 'h',
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', secret: { secretName } }],
  });
  const path = '/api/v1/namespaces/default/pods?dryRun=All';
  const refused = await server.send('POST', path, { metadata: { name: 's' }, spec: spec('other') });
  assert.equal(
    refused.json.message,
    'pods "s" is forbidden: volume with secret.secretName="other" is not allowed because service account h does not reference that secret',
  );
  assert.equal((await server.send('POST', path, { metadata: { name: 's' }, spec: spec('known') })).status, 201);
});
