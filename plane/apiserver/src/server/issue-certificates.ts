import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
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
import type { Authority, CertificateOptions, Certificates } from './plane-certificates.js';

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
const lifetimeMs = 3650 * dayMs;
/** Clocks of clients may be behind ours. */
const backdatedMs = 5 * 60 * 1000;

interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const authoritySubject: Subject = { commonName: 'castellan-ca' };

/** An authority for planes: signed by itself. */
export function issueAuthority(nowMs: number): Authority {
  const keys = newKeys();
  return {
    key: pemOfKey(keys),
    certificate: certificate({
      subject: authoritySubject,
      keys,
      issuer: authoritySubject,
      issuerKeys: keys,
      validity: validityFrom(nowMs),
      extensions: [
        extension(oid.basicConstraints, sequence(boolean(true)), true),
        // keyCertSign, cRLSign
        extension(oid.keyUsage, bitString(Buffer.of(0b0000_0110), 1), true),
      ],
    }),
  };
}

/** The server's and the administrator's certificates, signed by the authority: a new one, unless there is one. */
export function issueCertificates({ names, addresses, world, ...options }: CertificateOptions): Certificates {
  const now = world.clock.now();
  const authority = options.authority ?? issueAuthority(now);
  const authorityKeys = keysOf(authority.key);
  const server = newKeys();
  const admin = newKeys();
  const validity = validityFrom(now);
  const issue = (subject: Subject, keys: KeyPair, extensions: readonly Uint8Array[]) =>
    certificate({ subject, keys, issuer: authoritySubject, issuerKeys: authorityKeys, validity, extensions });
  return {
    caCertificate: authority.certificate,
    serverKey: pemOfKey(server),
    serverCertificate: issue({ commonName: 'castellan-apiserver' }, server, [
      ...leafExtensions(oid.serverAuth),
      extension(oid.subjectAlternativeName, alternativeNames(names, addresses), false),
    ]),
    adminKey: pemOfKey(admin),
    adminCertificate: issue(
      { commonName: 'castellan-admin', organization: 'system:masters' },
      admin,
      leafExtensions(oid.clientAuth),
    ),
  };
}

function validityFrom(nowMs: number) {
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
