import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { issueAuthority, issueCertificate } from './issue-certificate.js';

const nowMs = Date.UTC(2030, 0, 1);
const dayMs = 24 * 3600 * 1000;

test('a certificate is signed by its authority, names what it was asked to, and ends when it was asked to', () => {
  const authority = issueAuthority('some-authority', { nowMs, lifetimeMs: 365 * dayMs });
  const ca = new X509Certificate(authority.certificate);
  assert.equal(ca.ca, true);
  assert.equal(ca.subject, 'CN=some-authority');
  assert.ok(ca.verify(ca.publicKey));

  const { certificate, key } = issueCertificate({
    authority,
    subject: { commonName: 'server' },
    usage: 'server',
    names: ['webhooks.default.svc'],
    addresses: ['127.0.0.1', '::1'],
    nowMs,
    lifetimeMs: 90 * dayMs,
  });
  const leaf = new X509Certificate(certificate);
  assert.equal(leaf.ca, false);
  assert.ok(leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
  assert.equal(leaf.checkHost('webhooks.default.svc'), 'webhooks.default.svc');
  assert.equal(leaf.checkHost('other.default.svc'), undefined);
  assert.equal(leaf.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(Date.parse(leaf.validFrom), nowMs - 5 * 60 * 1000);
  assert.equal(Date.parse(leaf.validTo), nowMs + 90 * dayMs);
  assert.ok(leaf.publicKey.equals(createPublicKey(key)));
});

test('an address that is none is refused', () => {
  const authority = issueAuthority('some-authority', { nowMs });
  const request = {
    authority,
    subject: { commonName: 'a' },
    usage: 'server',
    addresses: ['localhost'],
    nowMs,
  } as const;
  assert.throws(() => issueCertificate(request), { name: 'TypeError', message: '"localhost" is not an IP address' });
});
