import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { KeyedCertificate } from '@castellan/certificates';
import { certificatesOf, secretData } from './certificate-secret.js';
import { type CertificateDemands, renewedCertificates, type WebhookCertificates } from './renewed-certificates.js';

const dayMs = 24 * 3_600_000;
const startMs = Date.UTC(2030, 0, 1);

function demandsAt(day: number, more: Partial<CertificateDemands> = {}): CertificateDemands {
  return {
    nowMs: startMs + day * dayMs,
    names: ['webhooks.default.svc'],
    addresses: [],
    isNewestTrusted: true,
    authorityLifetimeMs: 300 * dayMs,
    certificateLifetimeMs: 90 * dayMs,
    ...more,
  };
}

function isTrusted(serving: KeyedCertificate, authorities: readonly KeyedCertificate[]): boolean {
  const certificate = new X509Certificate(serving.certificate);
  return authorities.some((each) => certificate.verify(new X509Certificate(each.certificate).publicKey));
}

test('WH5 certificates that are good are kept; the one that is served is renewed with a third of its time left', () => {
  const first = renewedCertificates(undefined, demandsAt(0));
  assert.equal(first.authorities.length, 1);
  assert.equal(renewedCertificates(first, demandsAt(59)), first);
  const renewed = renewedCertificates(first, demandsAt(61));
  assert.deepEqual(renewed.authorities, first.authorities);
  assert.notEqual(renewed.serving.certificate, first.serving.certificate);
  assert.ok(isTrusted(renewed.serving, first.authorities));
});

test('WH5 a certificate that lacks a name is made anew', () => {
  const first = renewedCertificates(undefined, demandsAt(0));
  const renewed = renewedCertificates(first, demandsAt(1, { names: ['other.default.svc'] }));
  assert.equal(new X509Certificate(renewed.serving.certificate).checkHost('other.default.svc'), 'other.default.svc');
});

test('WH6 a new authority signs nothing before it is trusted; the old one is trusted until it ends', () => {
  let kept: WebhookCertificates = renewedCertificates(undefined, demandsAt(0));
  const counts: string[] = [];
  for (let day = 1; day <= 320; day += 1) {
    const before = kept;
    // Of an authority that is made today the API server hears today; it counts as trusted two days later.
    kept = renewedCertificates(before, demandsAt(day, { isNewestTrusted: day < 200 || day > 203 }));
    assert.ok(
      isTrusted(kept.serving, before.authorities),
      `day ${day}: what is served is trusted by who knows yesterday's`,
    );
    assert.ok(Date.parse(new X509Certificate(kept.serving.certificate).validTo) > startMs + day * dayMs);
    const { length } = kept.authorities;
    if (length !== before.authorities.length) counts.push(`day ${day}: ${length}`);
  }
  assert.deepEqual(counts, ['day 200: 2', 'day 300: 1']);
  const newest = kept.authorities.at(-1);
  assert.ok(newest !== undefined && isTrusted(kept.serving, [newest]));
});

test('WH6 who does not know since when an authority is trusted goes on with what it has signed already', () => {
  const first = renewedCertificates(undefined, demandsAt(0));
  const both = renewedCertificates(first, demandsAt(201));
  const moved = renewedCertificates(both, demandsAt(202));
  assert.notEqual(moved.serving.certificate, both.serving.certificate);
  assert.equal(renewedCertificates(moved, demandsAt(203, { isNewestTrusted: false })), moved);
});

test('certificates are the same after they were kept in a Secret, and what was spoilt there is none', () => {
  const certificates = renewedCertificates(renewedCertificates(undefined, demandsAt(0)), demandsAt(201));
  const data = secretData(certificates);
  assert.deepEqual(Object.keys(data), ['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
  assert.deepEqual(certificatesOf({ metadata: {}, data }), certificates);
  assert.equal(certificatesOf({ metadata: {}, data: { ...data, 'tls.key': data['ca.key'] ?? '' } }), undefined);
  assert.equal(certificatesOf({ metadata: {}, data: { ...data, 'ca.key': '' } }), undefined);
  assert.equal(certificatesOf({ metadata: {} }), undefined);
});
