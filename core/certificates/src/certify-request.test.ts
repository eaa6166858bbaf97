import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { certifyRequest } from './certify-request.js';
import { issueAuthority } from './issue-certificate.js';
import { readSigningRequest } from './signing-request.js';

const nowMs = Date.UTC(2030, 0, 1);
const dayMs = 24 * 3600 * 1000;

/** Made by `openssl req`: two organizations, and names of all types, one of them a registered ID. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIIBRzCB7QIBADA7MRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxCjAIBgNVBAoMAWIx
FjAUBgNVBAMMDXN5c3RlbTpub2RlOmEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQEJMblqB+Rer4hiwynaDU/jlpHlxMLgTzj6sPhLeO+LqXKHjq+I5shyykdHG0h
Ra0pINqIeOA2tUH2i7jJqRwFoFAwTgYJKoZIhvcNAQkOMUEwPzA9BgNVHREENjA0
gg1hLmV4YW1wbGUuY29thwQKAQIDgQ1hQGV4YW1wbGUuY29thgpzcGlmZmU6Ly9h
iAIqAzAKBggqhkjOPQQDAgNJADBGAiEAxj4Z3QDwoxS3y1rRjdC/lcoDNd7Ypc5I
2ASv+XNmzpwCIQC+tZwtLTHGg/lSog2wyxOvJTB341tLN6Ap43jbzngeaw==
-----END CERTIFICATE REQUEST-----
`;

test('a certificate request is read: who asks, for which key, and by which names it is reached', () => {
  const request = readSigningRequest(pem);
  assert.equal(request.commonName, 'system:node:a');
  assert.deepEqual(request.organizations, ['system:nodes', 'b']);
  assert.deepEqual(
    request.alternativeNames.map(({ type }) => type),
    ['dns', 'ip', 'email', 'uri'],
  );
});

test('a certificate request of which a byte has changed is refused, whichever it is', () => {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  for (const [place, byte] of der.entries()) {
    const changed = Buffer.from(der);
    changed[place] = byte ^ 1;
    const text = changed.toString('base64');
    const read = () =>
      readSigningRequest(`-----BEGIN CERTIFICATE REQUEST-----\n${text}\n-----END CERTIFICATE REQUEST-----`);
    assert.throws(read, Error, `byte ${place}`);
  }
});

test('what is no certificate request is refused', () => {
  assert.throws(() => readSigningRequest('hello'), { message: 'there is no PEM block of type CERTIFICATE REQUEST' });
});

test('a certificate has what its request asked for and its usages, and no longer a life than its authority', () => {
  const authority = issueAuthority('some-authority', { nowMs, lifetimeMs: 30 * dayMs });
  const request = readSigningRequest(pem);
  const usages = ['digitalSignature', 'clientAuth'] as const;
  const made = new X509Certificate(certifyRequest({ authority, request, usages, nowMs, lifetimeMs: 90 * dayMs }));
  const ca = new X509Certificate(authority.certificate);
  assert.ok(made.checkIssued(ca) && made.verify(ca.publicKey));
  assert.equal(made.ca, false);
  assert.equal(made.subject, 'O=system:nodes\nO=b\nCN=system:node:a');
  assert.equal(made.subjectAltName, 'DNS:a.example.com, IP Address:10.1.2.3, email:a@example.com, URI:spiffe://a');
  assert.deepEqual(made.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.ok(made.publicKey.export({ type: 'spki', format: 'der' }).equals(request.publicKey));
  assert.equal(Date.parse(made.validFrom), nowMs - 5 * 60 * 1000);
  assert.equal(Date.parse(made.validTo), nowMs + 30 * dayMs);
});
