import { createPrivateKey, X509Certificate } from 'node:crypto';

const block = /-----BEGIN ([A-Z0-9 ]+)-----\s[\s\S]*?-----END \1-----/g;

/**
 * Why a certificate and a key do not belong together, or are none; undefined when they do. The words are those of Go's
 * tls.X509KeyPair, which clients see as a warning.
 */
export function tlsPairProblem(certificate: string, key: string): string | undefined {
  const certificateTypes = typesOf(certificate);
  if (!certificateTypes.includes('CERTIFICATE')) {
    const [only = ''] = certificateTypes;
    if (certificateTypes.length === 0) return 'tls: failed to find any PEM data in certificate input';
    if (certificateTypes.length === 1 && only.endsWith('PRIVATE KEY')) {
      return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
    }
    return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${certificateTypes.join(' ')}]`;
  }
  const keyTypes = typesOf(key);
  if (!keyTypes.some((type) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'))) {
    if (keyTypes.length === 0) return 'tls: failed to find any PEM data in key input';
    if (keyTypes.length === 1 && keyTypes[0] === 'CERTIFICATE') {
      return 'tls: found a certificate rather than a key in the PEM for the private key';
    }
    return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${keyTypes.join(' ')}]`;
  }
  return mismatch(certificate, key);
}

function mismatch(certificate: string, key: string): string | undefined {
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate);
  } catch {
    return 'x509: malformed certificate';
  }
  try {
    return parsed.checkPrivateKey(createPrivateKey(key)) ? undefined : 'tls: private key does not match public key';
  } catch {
    return 'tls: failed to parse private key';
  }
}

function typesOf(text: string): readonly string[] {
  return [...text.matchAll(block)].map(([, type = '']) => type);
}
