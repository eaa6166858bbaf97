import { createPublicKey, X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '@castellan/world';
import { issueCertificates, issuePlaneAuthority } from './issue-certificates.js';
import type { Authority, CertificateOptions, Certificates } from './plane-certificates.js';

const files: Readonly<Record<keyof Certificates, string>> = {
  caCertificate: 'ca.crt',
  serverKey: 'server.key',
  serverCertificate: 'server.crt',
  adminKey: 'admin.key',
  adminCertificate: 'admin.crt',
};

/** Certificates are made anew this long before they end. */
const renewBeforeMs = 24 * 3600 * 1000;

/**
 * The plane's certificates, made once and kept in `directory` (mode 0600). Made anew, all of them, when one is missing,
 * is about to end, is not of `authority`, or does not name all of `names` and `addresses`; a kubeconfig written before is then of no use.
 */
export async function ensureCertificates(options: CertificateOptions): Promise<Certificates> {
  const kept = await readCertificates(options.directory);
  if (kept !== undefined && isUsable(kept, options)) return kept;
  const issued = issueCertificates(options);
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  for (const [part, file] of entriesOf(files)) {
    const path = join(options.directory, file);
    await writeFile(`${path}.new`, issued[part], { mode: 0o600 });
    await chmod(`${path}.new`, 0o600);
    await rename(`${path}.new`, path);
  }
  return issued;
}

/** For planes that share one; its key is to be kept as a secret is. */
export async function newAuthority(world: World): Promise<Authority> {
  return issuePlaneAuthority(world.clock.now());
}

async function readCertificates(directory: string): Promise<Certificates | undefined> {
  try {
    const read = (part: keyof Certificates) => readFile(join(directory, files[part]), 'utf8');
    return {
      caCertificate: await read('caCertificate'),
      serverKey: await read('serverKey'),
      serverCertificate: await read('serverCertificate'),
      adminKey: await read('adminKey'),
      adminCertificate: await read('adminCertificate'),
    };
  } catch {
    return undefined;
  }
}

/** Whether the kept files belong together, hold long enough and name what they must. */
function isUsable(kept: Certificates, { names, addresses, world, authority }: CertificateOptions): boolean {
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
      server.verify(ca.publicKey) &&
      admin.verify(ca.publicKey) &&
      names.every((name) => server.checkHost(name, { subject: 'never' }) !== undefined) &&
      addresses.every((address) => server.checkIP(address) !== undefined)
    );
  } catch {
    return false;
  }
}

function isPair(certificate: X509Certificate, key: string): boolean {
  return certificate.publicKey.equals(createPublicKey(key));
}

function entriesOf(record: typeof files): readonly (readonly [keyof Certificates, string])[] {
  return (['caCertificate', 'serverKey', 'serverCertificate', 'adminKey', 'adminCertificate'] as const).map(
    (part) => [part, record[part]] as const,
  );
}
