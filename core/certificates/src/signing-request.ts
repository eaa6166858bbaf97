import { createPublicKey, verify } from 'node:crypto';
import { type DerValue, dottedOid, expectDer, readDer } from './der-reader.js';

/** What somebody asks an authority to certify: PKCS #10 (RFC 2986). */
export interface SigningRequest {
  /** DER of the whole name. */
  readonly subject: Uint8Array;
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** DER of the SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  /** Names by which the subject is reached: those that a certificate of ours may have. */
  readonly alternativeNames: readonly AlternativeName[];
}

export interface AlternativeName {
  readonly type: 'email' | 'dns' | 'uri' | 'ip';
  /** DER of the GeneralName. */
  readonly der: Uint8Array;
}

const tags = { bitString: 0x03, oid: 0x06, octetString: 0x04, sequence: 0x30, set: 0x31, attributes: 0xa0 };
const commonName = '2.5.4.3';
const organization = '2.5.4.10';
const extensionRequest = '1.2.840.113549.1.9.14';
const subjectAlternativeName = '2.5.29.17';

/** RFC 5280, GeneralName; others (names of directories, say) no server or client is reached by. */
const nameTypes: ReadonlyMap<number, AlternativeName['type']> = new Map([
  [0x81, 'email'],
  [0x82, 'dns'],
  [0x86, 'uri'],
  [0x87, 'ip'],
]);

/** Of RFC 5758, RFC 4055 and RFC 8410, to their digest. SHA-1 is no longer one to be trusted. */
const digests: ReadonlyMap<string, string | undefined> = new Map([
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.3.101.112', undefined],
]);

/**
 * Reads a certificate request, in PEM, and makes sure that who made it has the private key.
 * @throws Error when it is not one, or its signature is not good
 */
export function readSigningRequest(pem: string): SigningRequest {
  const [, body] = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END CERTIFICATE REQUEST-----/.exec(pem) ?? [];
  if (body === undefined) throw new TypeError('there is no PEM block of type CERTIFICATE REQUEST');
  const [request] = readDer(Buffer.from(body, 'base64'));
  const [info, algorithm, signature] = readDer(expectDer(request, tags.sequence, 'certificate request').content);
  const known = expectDer(info, tags.sequence, 'certificate request info');
  const [, subject, publicKey, attributes] = readDer(known.content);
  const key = expectDer(publicKey, tags.sequence, 'public key').whole;
  const [identifier] = readDer(expectDer(algorithm, tags.sequence, 'signature algorithm').content);
  const [unusedBits, ...signed] = expectDer(signature, tags.bitString, 'signature').content;
  if (unusedBits !== 0) throw new TypeError('the signature is not of whole bytes');
  assertSigned(known.whole, { key, signature: Uint8Array.from(signed), algorithm: oidOf(identifier) });
  const name = expectDer(subject, tags.sequence, 'subject');
  return {
    subject: name.whole,
    commonName: valuesOf(name, commonName).at(-1) ?? '',
    organizations: valuesOf(name, organization),
    publicKey: key,
    alternativeNames: attributes === undefined ? [] : alternativeNamesOf(attributes),
  };
}

function assertSigned(
  data: Uint8Array,
  {
    key,
    signature,
    algorithm,
  }: { readonly key: Uint8Array; readonly signature: Uint8Array; readonly algorithm: string },
): void {
  if (!digests.has(algorithm)) throw new TypeError(`the signature algorithm ${algorithm} is not known`);
  const publicKey = createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' });
  if (!verify(digests.get(algorithm), data, publicKey, signature)) {
    throw new TypeError('the signature of the certificate request is not of its own key');
  }
}

function oidOf(value: DerValue | undefined): string {
  return dottedOid(expectDer(value, tags.oid, 'object identifier').content);
}

/** The texts that a name has for one type of attribute. */
function valuesOf(name: DerValue, type: string): readonly string[] {
  return readDer(name.content)
    .flatMap((set) => readDer(expectDer(set, tags.set, 'part of a name').content))
    .flatMap((attribute) => {
      const [id, value] = readDer(expectDer(attribute, tags.sequence, 'attribute of a name').content);
      return oidOf(id) === type && value !== undefined ? [Buffer.from(value.content).toString('utf8')] : [];
    });
}

function alternativeNamesOf(attributes: DerValue): readonly AlternativeName[] {
  return readDer(expectDer(attributes, tags.attributes, 'list of attributes').content)
    .map((attribute) => readDer(expectDer(attribute, tags.sequence, 'attribute').content))
    .filter(([id]) => oidOf(id) === extensionRequest)
    .flatMap(([, values]) => readDer(expectDer(values, tags.set, 'value of an attribute').content))
    .flatMap((extensions) => readDer(extensions.content))
    .map((extension) => readDer(expectDer(extension, tags.sequence, 'extension').content))
    .filter(([id]) => oidOf(id) === subjectAlternativeName)
    .flatMap((extension) => readDer(expectDer(extension.at(-1), tags.octetString, 'value of an extension').content))
    .flatMap((names) => readDer(names.content))
    .flatMap(({ tag, whole }) => {
      const type = nameTypes.get(tag);
      return type === undefined ? [] : [{ type, der: whole }];
    });
}
