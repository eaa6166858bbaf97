import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
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
const oid = {
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

const dayMs = 24 * 3600 * 1000;
const tenYearsMs = 3650 * dayMs;
const backdatedMs = 5 * 60 * 1000;

/** PEM texts. The key is to be kept as a secret is. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

export interface Validity {
  /** It holds from five minutes before this time: clocks of others may be behind ours. */
  readonly nowMs: number;
  /** Counted from `nowMs`; ten years unless told. */
  readonly lifetimeMs?: number;
}

export interface CertificateRequest extends Validity {
  /** Made by `issueAuthority`. */
  readonly authority: KeyedCertificate;
  readonly subject: Subject;
  readonly usage: 'server' | 'client';
  /** DNS names and IP addresses that a server is reached by. */
  readonly names?: readonly string[];
  readonly addresses?: readonly string[];
}

/** An authority that is signed by itself: P-256 and SHA-256, for certificates only. */
export function issueAuthority(commonName: string, validity: Validity): KeyedCertificate {
  const keys = newKeys();
  const subject = { commonName };
  return {
    key: pemOfKey(keys),
    certificate: certificate({
      subject,
      keys,
      issuer: subject,
      issuerKeys: keys,
      validity: periodOf(validity),
      extensions: [
        extension(oid.basicConstraints, sequence(boolean(true)), true),
        // keyCertSign, cRLSign
        extension(oid.keyUsage, bitString(Buffer.of(0b0000_0110), 1), true),
      ],
    }),
  };
}

/** A new key and its certificate, signed by `authority`. @throws TypeError for an address that is none */
export function issueCertificate(request: CertificateRequest): KeyedCertificate {
  const { authority, subject, usage, names = [], addresses = [] } = request;
  const keys = newKeys();
  const hasNames = names.length + addresses.length > 0;
  return {
    key: pemOfKey(keys),
    certificate: certificate({
      subject,
      keys,
      issuer: { commonName: commonNameOf(authority.certificate) },
      issuerKeys: keysOf(authority.key),
      validity: periodOf(request),
      extensions: [
        ...leafExtensions(usage === 'server' ? oid.serverAuth : oid.clientAuth),
        ...(hasNames ? [extension(oid.subjectAlternativeName, alternativeNames(names, addresses), false)] : []),
      ],
    }),
  };
}

/** Authorities of ours have no more in their name. */
function commonNameOf(pem: string): string {
  return new X509Certificate(pem).subject.replace(/^CN=/, '');
}

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function periodOf({ nowMs, lifetimeMs = tenYearsMs }: Validity) {
  return { fromMs: nowMs - backdatedMs, untilMs: nowMs + lifetimeMs };
}

function keysOf(pem: string): KeyPair {
  const privateKey = createPrivateKey(pem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

function newKeys(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

function pemOfKey({ privateKey }: KeyPair): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function leafExtensions(usage: string): readonly Uint8Array[] {
  return [
    extension(oid.basicConstraints, sequence(), true),
    // digitalSignature
    extension(oid.keyUsage, bitString(Buffer.of(0b1000_0000), 7), true),
    extension(oid.extendedKeyUsage, sequence(objectIdentifier(usage)), false),
  ];
}

function certificate(options: {
  readonly subject: Subject;
  readonly keys: KeyPair;
  readonly issuer: Subject;
  readonly issuerKeys: KeyPair;
  readonly validity: { readonly fromMs: number; readonly untilMs: number };
  readonly extensions: readonly Uint8Array[];
}): string {
  const { subject, keys, issuer, issuerKeys, validity, extensions } = options;
  const algorithm = sequence(objectIdentifier(oid.ecdsaWithSha256));
  const toSign = sequence(
    contextual(0, unsignedInteger(Buffer.of(2)), true),
    unsignedInteger(randomBytes(16)),
    algorithm,
    nameOf(issuer),
    sequence(time(validity.fromMs), time(validity.untilMs)),
    nameOf(subject),
    publicKeyInfo(keys),
    contextual(
      3,
      sequence(
        ...extensions,
        extension(oid.subjectKeyIdentifier, octetString(keyIdentifier(keys)), false),
        extension(oid.authorityKeyIdentifier, sequence(contextual(0, keyIdentifier(issuerKeys), false)), false),
      ),
      true,
    ),
  );
  const signature = sign('sha256', toSign, issuerKeys.privateKey);
  return pem(sequence(toSign, algorithm, bitString(signature)));
}

function nameOf({ commonName, organization }: Subject): Uint8Array {
  const attribute = (type: string, value: string) => setOf(sequence(objectIdentifier(type), utf8String(value)));
  const parts = organization === undefined ? [] : [attribute(oid.organization, organization)];
  return sequence(...parts, attribute(oid.commonName, commonName));
}

function publicKeyInfo({ publicKey }: KeyPair): Uint8Array {
  return publicKey.export({ type: 'spki', format: 'der' });
}

function keyIdentifier(keys: KeyPair): Uint8Array {
  return createHash('sha1').update(publicKeyInfo(keys)).digest();
}

function extension(id: string, value: Uint8Array, isCritical: boolean): Uint8Array {
  return sequence(objectIdentifier(id), ...(isCritical ? [boolean(true)] : []), octetString(value));
}

function alternativeNames(names: readonly string[], addresses: readonly string[]): Uint8Array {
  return sequence(
    ...names.map((name) => contextual(2, Buffer.from(name, 'ascii'), false)),
    ...addresses.map((address) => contextual(7, addressBytes(address), false)),
  );
}

function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (isIP(address) === 0) throw new TypeError(`${JSON.stringify(address)} is not an IP address`);
  const [head = '', tail] = address.split('::');
  const words = (part: string) => (part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16)));
  const before = words(head);
  const after = tail === undefined ? [] : words(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((word) => [word >> 8, word & 0xff]));
}

function pem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
