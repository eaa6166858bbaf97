import type { World } from '@castellan/world';

/** PEM texts: a certificate authority of this plane's own, its server's and its administrator's certificates. */
export interface Certificates {
  readonly caCertificate: string;
  readonly serverKey: string;
  readonly serverCertificate: string;
  readonly adminKey: string;
  readonly adminCertificate: string;
}

export interface CertificateOptions {
  readonly directory: string;
  /** DNS names and IP addresses by which clients reach the server. */
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  readonly world: World;
  /** Signs them, so that several planes have one authority. Absent: one that is made for them and whose key is forgotten. */
  readonly authority?: Authority;
}

/** PEM texts. */
export interface Authority {
  readonly certificate: string;
  readonly key: string;
}
