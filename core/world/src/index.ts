export { type CertificateUsage, type Certification, certifyRequest } from './certificates/certify-request.js';
export {
  type CertificateRequest,
  issueAuthority,
  issueCertificate,
  type KeyedCertificate,
  type Validity,
} from './certificates/issue-certificate.js';
export { type AlternativeName, readSigningRequest, type SigningRequest } from './certificates/signing-request.js';
export type { Subject } from './certificates/x509.js';
export { ProcessWorld } from './process-world.js';
export { nameAlphabet } from './random.js';
export { realWorld } from './real-world.js';
export { SimulatedWorld, simulatedEpochMs, simulatedWorld } from './simulated-world.js';
export { DeadlineError, type WaitOptions, waitFor } from './wait-for.js';
export type { Cancel, Clock, Random, World } from './world.js';
