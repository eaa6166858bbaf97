/** A kubeconfig with everything in it: one cluster, one administrator, one context, all named `castellan`. */
export function kubeconfigOf(options: {
  readonly url: string;
  readonly caCertificate: string;
  readonly adminKey: string;
  readonly adminCertificate: string;
}): string {
  const data = (pem: string) => Buffer.from(pem, 'utf8').toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
- name: castellan
  cluster:
    server: ${options.url}
    certificate-authority-data: ${data(options.caCertificate)}
users:
- name: castellan-admin
  user:
    client-certificate-data: ${data(options.adminCertificate)}
    client-key-data: ${data(options.adminKey)}
contexts:
- name: castellan
  context:
    cluster: castellan
    user: castellan-admin
current-context: castellan
`;
}
