/** Where an API server is and how to prove who we are. Certificates and keys are PEM. */
export interface ClusterConfig {
  /** `https://host:port`, or `http://` for a server without TLS. */
  readonly server: string;
  /** Trusted for this server instead of the machine's certificate authorities. */
  readonly caCertificate?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly token?: string;
  /** Read again when it is a minute old: the kubelet renews a pod's token in place. Wins over `token`. */
  readonly tokenFile?: string;
  /** Accepts any certificate: for experiments only. */
  readonly insecureSkipTlsVerify?: boolean;
  /** The namespace that the kubeconfig's context, or the pod, is in. */
  readonly namespace?: string;
}
