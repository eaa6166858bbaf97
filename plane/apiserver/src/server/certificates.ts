import { createPublicKey, X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '@castellan/world';
import { issueCertificates, issuePlaneAuthority } from './issue-certificates.js';
import type { Authority, CertificateOptions, Certificates } from './plane-certificates.js';

const files: Readonly<Record<keyof Certificates, string>> = {
  caCertificate: 'ca.crt',
  caKey: 'ca.key',
  serverKey: 'server.key',
  serverCertificate: 'server.crt',
  adminKey: 'admin.key',
  adminCertificate: 'admin.crt',
};

/** Certificates are made anew this long before they end. */
export const renewBeforeMs = 24 * 3600 * 1000;

/**
 * The plane's certificates, made once and kept in `directory` (mode 0600). They are made anew when one is missing, is about to
 * end, is not of `authority`, or does not name all that it must: by the authority that is there, so that a kubeconfig written
 * before stays good. Where that is about to end as well, a kubeconfig written before is of no use.
 */
export async function ensureCertificates(options: CertificateOptions): Promise<Certificates> {
  const kept = await readCertificates(options.directory);
  if (isUsable(kept, options)) return kept;
  const authority = options.authority ?? keptAuthority(kept, options.world);
  const issued = issueCertificates({ ...options, ...(authority === undefined ? {} : { authority }) });
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  for (const [part, file] of entriesOf(files)) {
    await writePrivate(join(options.directory, file), issued[part]);
  }
  return issued;
}

/** A file that is its old or its new content, and its owner's alone. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await chmod(`${path}.new`, 0o600);
  await rename(`${path}.new`, path);
}

/** For planes that share one; its key is to be kept as a secret is. */
export async function newAuthority(world: World): Promise<Authority> {
  return issuePlaneAuthority(world.clock.now());
}

async function readCertificates(directory: string): Promise<Certificates> {
  const read = (part: keyof Certificates) => readFile(join(directory, files[part]), 'utf8').catch(() => '');
  return {
    caCertificate: await read('caCertificate'),
    caKey: await read('caKey'),
    serverKey: await read('serverKey'),
    serverCertificate: await read('serverCertificate'),
    adminKey: await read('adminKey'),
    adminCertificate: await read('adminCertificate'),
  };
}

function keptAuthority({ caCertificate, caKey }: Certificates, world: World): Authority | undefined {
  try {
    const ca = new X509Certificate(caCertificate);
    const isGood = isPair(ca, caKey) && Date.parse(ca.validTo) > world.clock.now() + renewBeforeMs;
    return isGood ? { certificate: caCertificate, key: caKey } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the kept files belong together, hold long enough and name what they must. */
function isUsable(kept: Certificates, options: CertificateOptions): boolean {
  const { names, addresses, world, authority } = options;
  try {
    const ca = new X509Certificate(kept.caCertificate);
    const server = new X509Certificate(kept.serverCertificate);
    const admin = new X509Certificate(kept.adminCertificate);
    const latest = world.clock.now() + renewBeforeMs;
    return (
      (authority === undefined || authority.certificate === kept.caCertificate) &&
      [ca, server, admin].every((certificate) => Date.parse(certificate.validTo) > latest) &&
      isPair(server, kept.serverKey) &&
      isPair(admin, kept.adminKey) &&
      isPair(ca, kept.caKey) &&
      server.verify(ca.publicKey) &&
      admin.verify(ca.publicKey) &&
      names.every((name) => server.checkHost(name, { subject: 'never' }) !== undefined) &&
      addresses.every((address) => server.checkIP(address) !== undefined)
    );
  } catch {
    return false;
  }
}

/** Whether the certificate is of this private key. */
export function isPair(certificate: X509Certificate, key: string): boolean {
  return certificate.publicKey.equals(createPublicKey(key));
}

function entriesOf(record: typeof files): readonly (readonly [keyof Certificates, string])[] {
  const parts = ['caCertificate', 'caKey', 'serverKey', 'serverCertificate', 'adminKey', 'adminCertificate'] as const;
  return parts.map((part) => [part, record[part]] as const);
}
