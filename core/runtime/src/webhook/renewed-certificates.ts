import { createPublicKey, X509Certificate } from 'node:crypto';
import { issueAuthority, issueCertificate, type KeyedCertificate } from '@castellan/certificates';

/** What webhooks are served with, and what API servers trust them by. */
export interface WebhookCertificates {
  /** Oldest first; API servers are told of all of them. */
  readonly authorities: readonly KeyedCertificate[];
  readonly serving: KeyedCertificate;
}

export interface CertificateDemands {
  readonly nowMs: number;
  /** By which the API server reaches the webhooks. */
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  /** Whether every API server has been told of the newest authority, long enough ago. */
  readonly isNewestTrusted: boolean;
  readonly authorityLifetimeMs: number;
  readonly certificateLifetimeMs: number;
}

/**
 * `kept`, or what is to take its place. With a third of its time left an authority gets a successor, which signs nothing
 * until it is trusted everywhere; so at no moment is there a certificate that an API server does not trust. The old one is trusted until
 * it ends.
 */
export function renewedCertificates(
  kept: WebhookCertificates | undefined,
  demands: CertificateDemands,
): WebhookCertificates {
  const { nowMs, isNewestTrusted } = demands;
  const living = (kept?.authorities ?? []).filter(({ certificate }) => endOf(certificate) > nowMs);
  const newest = living.at(-1);
  if (kept === undefined || newest === undefined) {
    const first = newAuthority(demands);
    return { authorities: [first], serving: newServing(first, demands) };
  }
  const leftMs = endOf(newest.certificate) - nowMs;
  const successor = leftMs <= demands.authorityLifetimeMs / 3 ? newAuthority(demands) : undefined;
  const mayUseNewest = isNewestTrusted || isSignedBy(kept.serving, newest);
  const signer = mayUseNewest ? newest : (living.at(-2) ?? newest);
  const isServingGood = isUsable(kept.serving, signer, demands);
  const hasLostNone = living.length === kept.authorities.length;
  if (successor === undefined && isServingGood && hasLostNone) return kept;
  return {
    authorities: successor === undefined ? living : [...living, successor],
    serving: isServingGood ? kept.serving : newServing(signer, demands),
  };
}

/** The PEM bundle that API servers trust. */
export function bundleOf({ authorities }: WebhookCertificates): string {
  return authorities.map(({ certificate }) => certificate).join('');
}

/** Whether a certificate and a key belong together; false where one of them is none at all. */
export function isPair({ certificate, key }: KeyedCertificate): boolean {
  try {
    return new X509Certificate(certificate).publicKey.equals(createPublicKey(key));
  } catch {
    return false;
  }
}

function newAuthority({ nowMs, authorityLifetimeMs }: CertificateDemands): KeyedCertificate {
  return issueAuthority('castellan-webhooks', { nowMs, lifetimeMs: authorityLifetimeMs });
}

function newServing(authority: KeyedCertificate, demands: CertificateDemands): KeyedCertificate {
  const { nowMs, names, addresses, certificateLifetimeMs } = demands;
  return issueCertificate({
    authority,
    subject: { commonName: names[0] ?? addresses[0] ?? 'webhooks' },
    usage: 'server',
    names,
    addresses,
    nowMs,
    lifetimeMs: Math.min(certificateLifetimeMs, endOf(authority.certificate) - nowMs),
  });
}

function isUsable(serving: KeyedCertificate, signer: KeyedCertificate, demands: CertificateDemands): boolean {
  const certificate = new X509Certificate(serving.certificate);
  return (
    !isWorn(serving, signer, demands) &&
    isSignedBy(serving, signer) &&
    demands.names.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined) &&
    demands.addresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** Whether a third of its time is left, or less, and another one would last longer. */
function isWorn(serving: KeyedCertificate, signer: KeyedCertificate, demands: CertificateDemands): boolean {
  const { nowMs, certificateLifetimeMs } = demands;
  const endMs = endOf(serving.certificate);
  return endMs - nowMs <= certificateLifetimeMs / 3 && endMs < endOf(signer.certificate);
}

function isSignedBy({ certificate }: KeyedCertificate, authority: KeyedCertificate): boolean {
  return new X509Certificate(certificate).verify(new X509Certificate(authority.certificate).publicKey);
}

function endOf(pem: string): number {
  return Date.parse(new X509Certificate(pem).validTo);
}
