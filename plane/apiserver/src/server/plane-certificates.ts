import type { World } from '@castellan/world';

/** PEM texts: a certificate authority, and the certificates of the plane's server and its administrator. */
export interface Certificates {
  readonly caCertificate: string;
  readonly caKey: string;
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
  /** Signs them, so that several planes have one authority. Absent: the one that is kept in the directory, or a new one. */
  readonly authority?: Authority;
}

/** PEM texts. */
export interface Authority {
  readonly certificate: string;
  readonly key: string;
}
