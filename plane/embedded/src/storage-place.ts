/** Where a plane keeps its objects: in its data directory, or in an etcd cluster. */
export type Storage =
  | { readonly type: 'embedded' }
  | {
      readonly type: 'etcd';
      /** HOST:PORT of one or more members. */
      readonly endpoints: readonly string[];
      /** Absent: connections are not encrypted. */
      readonly tls?: EtcdTlsFiles;
    };

/** Paths of PEM files, as kube-apiserver's `--etcd-cafile`, `--etcd-certfile` and `--etcd-keyfile`. */
export interface EtcdTlsFiles {
  readonly caFile: string;
  readonly certificateFile?: string;
  readonly keyFile?: string;
}
