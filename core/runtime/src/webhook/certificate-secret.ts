import type { KeyedCertificate } from '@castellan/certificates';
import { ownValue, type Secret } from '@castellan/machinery';
import { bundleOf, isPair, type WebhookCertificates } from './renewed-certificates.js';

const parts = { bundle: 'ca.crt', authorityKeys: 'ca.key', certificate: 'tls.crt', key: 'tls.key' } as const;

/** The `data` of the Secret that webhooks keep their certificates in. */
export function secretData(certificates: WebhookCertificates): Readonly<Record<string, string>> {
  const encode = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  return {
    [parts.bundle]: encode(bundleOf(certificates)),
    [parts.authorityKeys]: encode(certificates.authorities.map(({ key }) => key).join('')),
    [parts.certificate]: encode(certificates.serving.certificate),
    [parts.key]: encode(certificates.serving.key),
  };
}

/** What a Secret keeps; `undefined` where it keeps nothing that is of use. */
export function certificatesOf(secret: Secret): WebhookCertificates | undefined {
  const text = (part: string) => {
    const encoded = ownValue(secret.data ?? {}, part);
    return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
  };
  const keys = blocksOf(text(parts.authorityKeys));
  const authorities = blocksOf(text(parts.bundle)).map(
    (certificate, index): KeyedCertificate => ({ certificate, key: keys[index] ?? '' }),
  );
  const serving = { certificate: text(parts.certificate), key: text(parts.key) };
  return authorities.length > 0 && [...authorities, serving].every(isPair) ? { authorities, serving } : undefined;
}

function blocksOf(pem: string): readonly string[] {
  return pem.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n?/g) ?? [];
}
