import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const merge = { 'content-type': 'application/merge-patch+json' };
const signerName = 'kubernetes.io/kube-apiserver-client';

/** A certificate request for this subject, in PEM within base64. */
async function requestOf(subject: string): Promise<string> {
  const path = join(server.directory, 'request.pem');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${path}.key`];
  await promisify(execFile)('openssl', ['req', '-new', ...key, '-subj', subject, '-out', path], { timeout: 20_000 });
  return (await readFile(path)).toString('base64');
}

/** Lets a user write all of certificate requests, and do `verb` with the signer of this name. */
async function allow(user: string, verb: string, resourceName: string): Promise<void> {
  const rules = [
    {
      verbs: ['get', 'update', 'patch'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
    },
    { verbs: [verb], apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: [resourceName] },
  ];
  const made = await server.send('POST', `${rbac}/clusterroles`, { metadata: { name: user }, rules });
  assert.equal(made.status, 201, made.text);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  const bound = await server.send('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: user },
    roleRef,
    subjects,
  });
  assert.equal(bound.status, 201, bound.text);
}

const as = (user: string) => ({ ...merge, 'impersonate-user': user });
const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } };

test('who approves or signs a certificate request needs a right on its signer, or on all of its domain', async () => {
  const spec = { request: await requestOf('/CN=eve'), signerName, usages: ['client auth'] };
  const made = await server.send('POST', requests, { metadata: { name: 'eve' }, spec });
  assert.equal(made.status, 201, made.text);
  await allow('other-approver', 'approve', 'example.com/*');
  await allow('approver', 'approve', 'kubernetes.io/*');
  const path = `${requests}/eve/approval`;
  const refused = await server.send('PATCH', path, approved, as('other-approver'));
  assert.equal(refused.status, 403);
  assert.equal(
    refused.json.message,
    `certificatesigningrequests.certificates.k8s.io "eve" is forbidden: user not permitted to approve requests with signerName "${signerName}"`,
  );
  const done = await server.send('PATCH', path, approved, as('approver'));
  assert.equal(done.status, 200, done.text);

  await allow('signer', 'sign', signerName);
  const certificate = Buffer.from(server.certificates.adminCertificate).toString('base64');
  const put = (user: string) => server.send('PATCH', `${requests}/eve/status`, { status: { certificate } }, as(user));
  assert.match((await put('approver')).json.message, /user not permitted to sign requests with signerName/);
  const signed = await put('signer');
  assert.equal(signed.status, 200, signed.text);
});

test('a certificate request for the group of administrators is refused by the signer of clients alone', async () => {
  const request = await requestOf('/O=devs/O=system:masters/CN=eve');
  const send = (name: string, signer: string) =>
    server.send('POST', requests, {
      metadata: { name },
      spec: { request, signerName: signer, usages: ['client auth'] },
    });
  const refused = await send('masters', signerName);
  assert.equal(
    refused.json.message,
    `certificatesigningrequests.certificates.k8s.io "masters" is forbidden: use of ${signerName} signer with system:masters group is not allowed`,
  );
  assert.equal((await send('others', 'example.com/mine')).status, 201);
});
