import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect, loadKubeconfig } from '@castellan/client';
import { type CertificateSigningRequest, certificateSigningRequests, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { kubectlPrograms } from './kubectl-programs.js';
import { PlaneProcess, run, world } from './plane-process.js';

const [kubectl] = [...(await kubectlPrograms()).values()];
const skip = kubectl === undefined ? 'no kubectl of 1.28 or later is on this machine' : false;
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const clientUsages = ['digital signature', 'key encipherment', 'client auth'];

let plane: PlaneProcess;
before(async () => {
  plane = await PlaneProcess.create();
  await plane.up(['--no-node', '--operators', 'none']);
});
after(async () => await plane.remove());

/** A new key in `NAME.key`, and the request that goes with it: PEM within base64. */
async function requestOf(
  name: string,
  subject: string,
  options: { readonly key?: readonly string[]; readonly alternativeNames?: string } = {},
): Promise<string> {
  const path = join(plane.directory, name);
  const { key = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'], alternativeNames } = options;
  const more = alternativeNames === undefined ? [] : ['-addext', `subjectAltName=${alternativeNames}`];
  const made = await run('openssl', [
    ...['req', '-new', '-nodes', '-newkey', ...key, '-keyout', `${path}.key`],
    ...['-subj', subject, ...more, '-out', `${path}.csr`],
  ]);
  assert.equal(made.code, 0, made.stderr);
  return (await readFile(`${path}.csr`)).toString('base64');
}

async function ask(name: string, spec: CertificateSigningRequest['spec']): Promise<void> {
  const client = await plane.client();
  await client.create(certificateSigningRequests, { metadata: { name }, spec });
}

async function approve(name: string): Promise<void> {
  assert.ok(kubectl !== undefined);
  const approved = await plane.kubectl(['certificate', 'approve', name], { program: kubectl });
  assert.equal(approved.code, 0, approved.stderr);
}

type Status = NonNullable<CertificateSigningRequest['status']>;

async function outcomeOf(name: string): Promise<Status> {
  const client = await plane.client();
  return await waitFor(
    world,
    async () => {
      const { status } = await client.get(certificateSigningRequests, { name });
      const isDone = status?.certificate !== undefined || status?.conditions?.some(({ type }) => type === 'Failed');
      return isDone === true ? status : undefined;
    },
    { what: `the request ${name} to be signed or failed`, deadlineMs: 30_000 },
  );
}

function certificateIn({ certificate = '', conditions }: Status): X509Certificate {
  assert.notEqual(certificate, '', JSON.stringify(conditions));
  return new X509Certificate(Buffer.from(certificate, 'base64'));
}

for (const [kind, key] of [
  ['ecdsa', ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']],
  ['rsa', ['rsa:2048']],
  ['ed25519', ['ed25519']],
] as const) {
  test(`what kubectl certificate approve approves becomes a certificate with which its owner speaks (${kind})`, {
    skip,
  }, async (t) => {
    const request = await requestOf(kind, `/O=developers/O=${kind}-users/CN=eve-${kind}`, { key });
    await ask(kind, { request, signerName: clientSigner, usages: clientUsages, expirationSeconds: 3600 });
    await approve(kind);
    const status = await outcomeOf(kind);
    const certificate = certificateIn(status);
    const { server, caCertificate = '' } = await loadKubeconfig(plane.kubeconfig);
    assert.ok(certificate.verify(new X509Certificate(caCertificate).publicKey));
    assert.equal(certificate.subject, `O=developers\nO=${kind}-users\nCN=eve-${kind}`);
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
    assert.equal(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom), (3600 + 300) * 1000);
    const clientKey = await readFile(join(plane.directory, `${kind}.key`), 'utf8');
    const eve = connect({ server, caCertificate, clientCertificate: certificate.toString(), clientKey }, { world });
    t.after(() => eve.close());
    await assert.rejects(eve.list(pods), {
      reason: 'Forbidden',
      message: new RegExp(`User "eve-${kind}" cannot list`),
    });
  });
}

test('a certificate holds for a year unless a shorter time was asked for, and names what the request names', {
  skip,
}, async () => {
  const usages = ['digital signature', 'server auth'];
  const alternativeNames = 'DNS:node-1.example.com,IP:10.1.2.3';
  const request = await requestOf('serving', '/O=system:nodes/CN=system:node:node-1', { alternativeNames });
  await ask('serving', { request, signerName: 'kubernetes.io/kubelet-serving', usages, expirationSeconds: 99_999_999 });
  await approve('serving');
  const certificate = certificateIn(await outcomeOf('serving'));
  assert.equal(certificate.subjectAltName, 'DNS:node-1.example.com, IP Address:10.1.2.3');
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom), 365 * 24 * 3600 * 1000);
  assert.equal(certificate.ca, false);
});

for (const { name, spec, subject, says } of [
  {
    name: 'for-a-server',
    subject: '/CN=eve',
    spec: { signerName: clientSigner, usages: ['client auth', 'server auth'] },
    says: 'invalid usage for client certificate: server auth',
  },
  {
    name: 'for-nothing',
    subject: '/CN=eve',
    spec: { signerName: clientSigner, usages: ['digital signature'] },
    says: 'missing required usage for client certificate: client auth',
  },
  {
    name: 'no-node',
    subject: '/O=system:nodes/CN=eve',
    spec: { signerName: nodeSigner, usages: clientUsages },
    says: 'subject common name does not begin with system:node:',
  },
  {
    name: 'too-little',
    subject: '/O=system:nodes/CN=system:node:a',
    spec: { signerName: nodeSigner, usages: ['client auth'] },
    says: 'usages did not match [client auth digital signature key encipherment]',
  },
  {
    name: 'unnamed',
    subject: '/O=system:nodes/CN=system:node:a',
    spec: { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] },
    says: 'DNS or IP subjectAltName is required',
  },
]) {
  test(`an approved request that its signer does not sign becomes Failed: ${says}`, { skip }, async () => {
    await ask(name, { ...spec, request: await requestOf(name, subject) });
    await approve(name);
    const { certificate, conditions = [] } = await outcomeOf(name);
    assert.equal(certificate, undefined);
    const failed = conditions.find(({ type }) => type === 'Failed');
    assert.equal(failed?.status, 'True');
    assert.equal(failed?.reason, 'SignerValidationFailure');
    assert.equal(failed?.message, says);
  });
}

test('a request that somebody has changed after it was signed becomes Failed', { skip }, async () => {
  const original = Buffer.from(await requestOf('forged', '/CN=eve'), 'base64').toString();
  const der = Buffer.from(original.replace(/-----[A-Z ]+-----/g, ''), 'base64').toString('latin1');
  const forged = Buffer.from(der.replace('eve', 'bob'), 'latin1').toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${forged}\n-----END CERTIFICATE REQUEST-----\n`;
  const request = Buffer.from(pem).toString('base64');
  await ask('forged', { request, signerName: clientSigner, usages: ['client auth'] });
  await approve('forged');
  const { certificate, conditions = [] } = await outcomeOf('forged');
  assert.equal(certificate, undefined);
  assert.equal(
    conditions.find(({ type }) => type === 'Failed')?.message,
    'unable to read the certificate request: the signature of the certificate request is not of its own key',
  );
});

test('a node that may is given its own client certificate unseen', { skip }, async () => {
  const request = await requestOf('node', '/O=system:nodes/CN=system:node:castle');
  await ask('node', { request, signerName: nodeSigner, usages: clientUsages });
  const status = await outcomeOf('node');
  assert.equal(certificateIn(status).subject, 'O=system:nodes\nCN=system:node:castle');
  const approved = status.conditions?.find(({ type }) => type === 'Approved');
  assert.equal(approved?.reason, 'AutoApproved');
  assert.equal(approved?.message, 'Auto approving kubelet client certificate after SubjectAccessReview.');
});
