import { isStatusError, type Namespace, namespaces, type ServiceAccount, serviceAccounts } from '@castellan/machinery';
import { type Controller, watchSource } from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';

const accountName = 'default';

/** Gives every namespace its ServiceAccount `default`; pods that name no other run under it. */
export function defaultAccountController(): Controller<Namespace> {
  return {
    name: 'default-account',
    for: namespaces,
    watches: [watchSource({ type: serviceAccounts, map: namespaceOfDefaultAccount })],
    concurrency: 4,
    async reconcile({ name: namespace }, { cache, client, signal }) {
      const object = cache.get(namespaces, { name: namespace });
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
      if (cache.get(serviceAccounts, { namespace, name: accountName }) !== undefined) return undefined;
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: accountName } };
      try {
        await client.create(serviceAccounts, account, { signal });
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists') && !isNamespaceTerminating(error)) throw error;
      }
      return undefined;
    },
  };
}

function namespaceOfDefaultAccount({ metadata }: ServiceAccount) {
  return metadata.name === accountName && metadata.namespace !== undefined ? [{ name: metadata.namespace }] : [];
}
