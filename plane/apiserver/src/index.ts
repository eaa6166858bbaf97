export type { AuditPolicy } from './audit/audit-policy.js';
export { AuditPolicyError } from './audit/audit-policy-error.js';
export { readAuditPolicy } from './audit/read-audit-policy.js';
export { readTokenFile, type StaticTokens, TokenFileError } from './authentication/static-tokens.js';
export { type Encryption, noEncryption } from './encryption/encryption.js';
export { EncryptionConfigurationError } from './encryption/encryption-configuration-error.js';
export { readEncryptionConfiguration } from './encryption/read-configuration.js';
export { DecryptionError, type ValueTransformer } from './encryption/value-transformer.js';
export type { ServerAddress } from './server/advertised-endpoints.js';
export { type ApiServer, type ApiServerOptions, createApiServer } from './server/api-server.js';
export { ensureCertificates, newAuthority } from './server/certificates.js';
export type { ApiRequest, ResponseWriter, User } from './server/http.js';
export { kubeconfigOf } from './server/kubeconfig.js';
export type { TlsMaterial } from './server/listener.js';
export {
  ensureNodeCertificate,
  type NodeCertificate,
  type NodeCertificateOptions,
} from './server/node-certificate.js';
export type { LogRequest, NodeStreams, NodeStreamsOf } from './server/node-streams.js';
export type { Authority, CertificateOptions, Certificates } from './server/plane-certificates.js';
export { PortInUseError } from './server/port-in-use-error.js';
export { ensureServiceAccountKey } from './server/service-account-key.js';
export type { UsageSource } from './usage/usage-source.js';
