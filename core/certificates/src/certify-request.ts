import { X509Certificate } from 'node:crypto';
import { bitString, objectIdentifier, sequence } from './der.js';
import type { KeyedCertificate } from './issue-certificate.js';
import type { SigningRequest } from './signing-request.js';
import { backdatedMs, extension, issuerName, keysOf, oid, signCertificate } from './x509.js';

/** What a certificate is for: bits of keyUsage and purposes of extendedKeyUsage (RFC 5280, 4.2.1.3 and 4.2.1.12). */
export type CertificateUsage = 'digitalSignature' | 'keyEncipherment' | 'clientAuth' | 'serverAuth';

export interface Certification {
  /** Made by `issueAuthority`. */
  readonly authority: KeyedCertificate;
  readonly request: SigningRequest;
  readonly usages: readonly CertificateUsage[];
  /** It holds from five minutes before this time. */
  readonly nowMs: number;
  /** Counted from `nowMs`; never longer than the authority's own. */
  readonly lifetimeMs: number;
}

/** Certifies the name, the key and the alternative names of a request; nothing else that it may ask for. Gives PEM. */
export function certifyRequest({ authority, request, usages, nowMs, lifetimeMs }: Certification): string {
  const { subject, publicKey, alternativeNames } = request;
  const authorityUntilMs = Date.parse(new X509Certificate(authority.certificate).validTo);
  const names = sequence(...alternativeNames.map(({ der }) => der));
  const isNameless = subject.length === sequence().length;
  return signCertificate({
    subject,
    publicKey,
    issuer: issuerName(authority.certificate),
    issuerKeys: keysOf(authority.key),
    validity: { fromMs: nowMs - backdatedMs, untilMs: Math.min(nowMs + lifetimeMs, authorityUntilMs) },
    extensions: [
      extension(oid.basicConstraints, sequence(), true),
      ...usageExtensions(new Set(usages)),
      ...(alternativeNames.length === 0 ? [] : [extension(oid.subjectAlternativeName, names, isNameless)]),
    ],
  });
}

function usageExtensions(usages: ReadonlySet<CertificateUsage>): readonly Uint8Array[] {
  const bits = (usages.has('digitalSignature') ? 0b1000_0000 : 0) | (usages.has('keyEncipherment') ? 0b0010_0000 : 0);
  const unusedBits = usages.has('keyEncipherment') ? 5 : 7;
  const purposes = (['clientAuth', 'serverAuth'] as const).filter((purpose) => usages.has(purpose));
  const purposeIds = purposes.map((purpose) => objectIdentifier(oid[purpose]));
  return [
    ...(bits === 0 ? [] : [extension(oid.keyUsage, bitString(Buffer.of(bits), unusedBits), true)]),
    ...(purposes.length === 0 ? [] : [extension(oid.extendedKeyUsage, sequence(...purposeIds), false)]),
  ];
}
