import { issueAuthority, issueCertificate } from '@castellan/certificates';
import type { Authority, CertificateOptions, Certificates } from './plane-certificates.js';

/** An authority for planes: signed by itself. */
export function issuePlaneAuthority(nowMs: number): Authority {
  return issueAuthority('castellan-ca', { nowMs });
}

/** The certificates of server and administrator, signed by the authority: a new one, unless there is one. */
export function issueCertificates({ names, addresses, world, ...options }: CertificateOptions): Certificates {
  const nowMs = world.clock.now();
  const authority = options.authority ?? issuePlaneAuthority(nowMs);
  const server = issueCertificate({
    authority,
    subject: { commonName: 'castellan-apiserver' },
    usage: 'server',
    names,
    addresses,
    nowMs,
  });
  const admin = issueCertificate({
    authority,
    subject: { commonName: 'castellan-admin', organization: 'system:masters' },
    usage: 'client',
    nowMs,
  });
  return {
    caCertificate: authority.certificate,
    caKey: authority.key,
    serverKey: server.key,
    serverCertificate: server.certificate,
    adminKey: admin.key,
    adminCertificate: admin.certificate,
  };
}
