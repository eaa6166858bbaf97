import {
  type ConfigMap,
  configMaps,
  isStatusError,
  keyOf,
  type Namespace,
  namespaces,
  type ServiceAccount,
  serviceAccounts,
} from '@castellan/machinery';
import { type Controller, type ReconcileContext, watchSource } from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';

const accountName = 'default';
const rootCaName = 'kube-root-ca.crt';
/** ConfigMaps are not watched (a plane may hold thousands of large ones): a lost or changed one is found this late. */
const rootCaCheckIntervalMs = 5 * 60_000;

export interface NamespaceDefaultsOptions {
  /** The certificate authority that signed the API server's certificate, in PEM. */
  readonly rootCertificate: string;
}

/** Gives every namespace its ServiceAccount `default` and its ConfigMap `kube-root-ca.crt`; pods need both. */
export function namespaceDefaultsController({ rootCertificate }: NamespaceDefaultsOptions): Controller<Namespace> {
  return {
    name: 'namespace-defaults',
    for: namespaces,
    watches: [watchSource({ type: serviceAccounts, map: namespaceOfDefaultAccount })],
    concurrency: 4,
    async reconcile({ name }, context) {
      const namespace = context.cache.get(namespaces, { name });
      if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return undefined;
      try {
        await ensureAccount(name, context);
        await ensureRootCa(name, rootCertificate, context);
      } catch (error) {
        if (isNamespaceTerminating(error)) return undefined;
        throw error;
      }
      return { requeueAfterMs: rootCaCheckIntervalMs };
    },
  };
}

function namespaceOfDefaultAccount({ metadata }: ServiceAccount) {
  return metadata.name === accountName && metadata.namespace !== undefined ? [{ name: metadata.namespace }] : [];
}

async function ensureAccount(namespace: string, { cache, client, signal }: ReconcileContext): Promise<void> {
  if (cache.get(serviceAccounts, { namespace, name: accountName }) !== undefined) return;
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: accountName } };
  try {
    await client.create(serviceAccounts, account, { signal });
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
}

async function ensureRootCa(
  namespace: string,
  certificate: string,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const wanted: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace,
      name: rootCaName,
      annotations: {
        'kubernetes.io/description':
          'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
      },
    },
    data: { 'ca.crt': certificate },
  };
  const found = await client.find(configMaps, { namespace, name: rootCaName }, { signal });
  if (found === undefined) await client.create(configMaps, wanted, { signal });
  else if (found.data?.['ca.crt'] !== certificate) {
    const patch = { type: 'merge', body: { data: wanted.data } } as const;
    await client.patch(configMaps, keyOf(found), patch, { signal });
  }
}
