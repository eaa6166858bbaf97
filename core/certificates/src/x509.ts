import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import {
  bitString,
  boolean,
  contextual,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  unsignedInteger,
  utf8String,
} from './der.js';

/**
 * X.509 certificates written directly (RFC 5280). A library for it costs a start more than the rest of the server.
 */
export const oid = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
};

/** Certificates hold from so long before they are made: clocks of others may be behind ours. */
export const backdatedMs = 5 * 60 * 1000;

export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface CertificateParts {
  /** DER of a name. */
  readonly subject: Uint8Array;
  /** DER of a SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  readonly issuer: Uint8Array;
  readonly issuerKeys: KeyPair;
  readonly validity: { readonly fromMs: number; readonly untilMs: number };
  readonly extensions: readonly Uint8Array[];
}

/** Signs with ECDSA and SHA-256. Gives PEM. */
export function signCertificate(parts: CertificateParts): string {
  const { subject, publicKey, issuer, issuerKeys, validity, extensions } = parts;
  const algorithm = sequence(objectIdentifier(oid.ecdsaWithSha256));
  const toSign = sequence(
    contextual(0, unsignedInteger(Buffer.of(2)), true),
    unsignedInteger(randomBytes(16)),
    algorithm,
    issuer,
    sequence(time(validity.fromMs), time(validity.untilMs)),
    subject,
    publicKey,
    contextual(
      3,
      sequence(
        ...extensions,
        extension(oid.subjectKeyIdentifier, octetString(keyIdentifier(publicKey)), false),
        extension(
          oid.authorityKeyIdentifier,
          sequence(contextual(0, keyIdentifier(publicKeyInfo(issuerKeys)), false)),
          false,
        ),
      ),
      true,
    ),
  );
  const signature = sign('sha256', toSign, issuerKeys.privateKey);
  return pem(sequence(toSign, algorithm, bitString(signature)));
}

/** The name of an authority of ours, as those that it signs name it: it has no more than a common name. */
export function issuerName(certificate: string): Uint8Array {
  return nameOf({ commonName: new X509Certificate(certificate).subject.replace(/^CN=/, '') });
}

export function keysOf(pem: string): KeyPair {
  const privateKey = createPrivateKey(pem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

export function publicKeyInfo({ publicKey }: KeyPair): Uint8Array {
  return publicKey.export({ type: 'spki', format: 'der' });
}

export function nameOf({ commonName, organization }: Subject): Uint8Array {
  const attribute = (type: string, value: string) => setOf(sequence(objectIdentifier(type), utf8String(value)));
  const parts = organization === undefined ? [] : [attribute(oid.organization, organization)];
  return sequence(...parts, attribute(oid.commonName, commonName));
}

export function extension(id: string, value: Uint8Array, isCritical: boolean): Uint8Array {
  return sequence(objectIdentifier(id), ...(isCritical ? [boolean(true)] : []), octetString(value));
}

function keyIdentifier(publicKey: Uint8Array): Uint8Array {
  return createHash('sha1').update(publicKey).digest();
}

function pem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
