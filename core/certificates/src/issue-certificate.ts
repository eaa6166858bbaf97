import { generateKeyPairSync } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { bitString, boolean, contextual, objectIdentifier, sequence } from './der.js';
import {
  backdatedMs,
  extension,
  issuerName,
  type KeyPair,
  keysOf,
  nameOf,
  oid,
  publicKeyInfo,
  type Subject,
  signCertificate,
} from './x509.js';

const dayMs = 24 * 3600 * 1000;
const tenYearsMs = 3650 * dayMs;

/** PEM texts. The key is to be kept as a secret is. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
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
    certificate: signCertificate({
      subject: nameOf(subject),
      publicKey: publicKeyInfo(keys),
      issuer: nameOf(subject),
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
    certificate: signCertificate({
      subject: nameOf(subject),
      publicKey: publicKeyInfo(keys),
      issuer: issuerName(authority.certificate),
      issuerKeys: keysOf(authority.key),
      validity: periodOf(request),
      extensions: [
        ...leafExtensions(usage === 'server' ? oid.serverAuth : oid.clientAuth),
        ...(hasNames ? [extension(oid.subjectAlternativeName, alternativeNames(names, addresses), false)] : []),
      ],
    }),
  };
}

function periodOf({ nowMs, lifetimeMs = tenYearsMs }: Validity) {
  return { fromMs: nowMs - backdatedMs, untilMs: nowMs + lifetimeMs };
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
