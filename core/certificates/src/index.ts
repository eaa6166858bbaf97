export { type CertificateUsage, type Certification, certifyRequest } from './certify-request.js';
export {
  type CertificateRequest,
  issueAuthority,
  issueCertificate,
  type KeyedCertificate,
  type Validity,
} from './issue-certificate.js';
export { type AlternativeName, readSigningRequest, type SigningRequest } from './signing-request.js';
export type { Subject } from './x509.js';
