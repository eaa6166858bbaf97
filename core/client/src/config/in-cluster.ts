import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../errors.js';
import type { ClusterConfig } from './cluster-config.js';

const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** What the kubelet gives every pod: the server's address in the environment, token and authority in a mounted directory. */
export async function inClusterConfig(options: InClusterOptions = {}): Promise<ClusterConfig> {
  const { directory = serviceAccountDirectory, environment = process.env } = options;
  const host = environment.KUBERNETES_SERVICE_HOST;
  const port = environment.KUBERNETES_SERVICE_PORT;
  if (host === undefined || port === undefined) {
    throw new ConfigError(
      'this process does not run in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set. Use a kubeconfig instead.',
    );
  }
  const tokenFile = join(directory, 'token');
  try {
    await readFile(tokenFile);
    const caCertificate = await readFile(join(directory, 'ca.crt'), 'utf8');
    const namespace = await readFile(join(directory, 'namespace'), 'utf8');
    const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    return { server: `https://${authority}`, caCertificate, tokenFile, namespace: namespace.trim() };
  } catch (cause) {
    throw new ConfigError(
      `the pod's service account cannot be read in ${directory}; check that automountServiceAccountToken is not false`,
      { cause },
    );
  }
}
