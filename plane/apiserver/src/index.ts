export { type ApiServer, type ApiServerOptions, createApiServer } from './server/api-server.js';
export { ensureCertificates } from './server/certificates.js';
export type { ApiRequest, ResponseWriter, User } from './server/http.js';
export { kubeconfigOf } from './server/kubeconfig.js';
export type { TlsMaterial } from './server/listener.js';
export type { LogRequest, NodeStreams } from './server/node-streams.js';
export type { CertificateOptions, Certificates } from './server/plane-certificates.js';
export { PortInUseError } from './server/port-in-use-error.js';
export { ensureServiceAccountKey } from './server/service-account-key.js';
