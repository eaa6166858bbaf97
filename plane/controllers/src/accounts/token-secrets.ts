import {
  isStatusError,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type Secret,
  type ServiceAccount,
  secrets,
  serviceAccounts,
} from '@castellan/machinery';
import { type Controller, cached, index, type ReconcileContext, watchSource } from '@castellan/runtime';
import { fieldOf, textAt } from '../document.js';

const tokenType = 'kubernetes.io/service-account-token';
const nameAnnotation = 'kubernetes.io/service-account.name';
const uidAnnotation = 'kubernetes.io/service-account.uid';
/** A token of a Secret ends with the Secret; this is as long as the server lets any live. */
const longestSeconds = 2 ** 32;

const tokenSecrets = cached(secrets, { fieldSelector: `type=${tokenType}` });
const secretsByAccount = index(tokenSecrets, 'account', (secret) => accountsOf(secret).map(({ name }) => name));

/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token of their account, which holds as long as both are
 * there, and deletes those whose account is gone. Source: Kubernetes, "Manually create a long-lived API token for a
 * ServiceAccount"; upstream's tokens controller.
 *
 * @param rootCertificate by which the API server is known, in PEM
 */
export function tokenSecretsController(rootCertificate: string): Controller<ServiceAccount> {
  return {
    name: 'serviceaccount-token',
    for: serviceAccounts,
    watches: [watchSource({ type: tokenSecrets, map: accountsOf })],
    indexes: [secretsByAccount],
    writes: [
      { type: secrets, verbs: ['patch', 'delete'] },
      { type: serviceAccounts, subresource: 'token', verbs: ['create'] },
    ],
    async reconcile(key, context) {
      const own = context.cache.byIndex(secretsByAccount, key.name).filter(isIn(key));
      if (own.length === 0) return undefined;
      // The cache may not show an account yet that the Secret was made for.
      const account = await context.client.find(serviceAccounts, key, { signal: context.signal });
      for (const secret of own) {
        if (isOf(secret, account)) await fill(secret, account, rootCertificate, context);
        else await remove(secret, context);
      }
      return undefined;
    },
  };
}

function accountsOf({ metadata }: KubernetesObject): readonly ObjectKey[] {
  const name = metadata.annotations?.[nameAnnotation];
  return name === undefined ? [] : [{ namespace: metadata.namespace ?? '', name }];
}

function isIn({ namespace }: ObjectKey): (secret: Secret) => boolean {
  return ({ metadata }) => metadata.namespace === namespace && metadata.deletionTimestamp === undefined;
}

/** A Secret that was filled for an account is not for another of the same name. */
function isOf({ metadata }: Secret, account: ServiceAccount | undefined): account is ServiceAccount {
  const filledFor = metadata.annotations?.[uidAnnotation] ?? '';
  return account !== undefined && (filledFor === '' || filledFor === account.metadata.uid);
}

async function fill(
  secret: Secret,
  account: ServiceAccount,
  rootCertificate: string,
  context: ReconcileContext,
): Promise<void> {
  const { namespace = '', uid, resourceVersion } = secret.metadata;
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const fixed = { 'ca.crt': encoded(rootCertificate), namespace: encoded(namespace) };
  const isCurrent = Object.entries(fixed).every(([name, value]) => secret.data?.[name] === value);
  const hasToken = (secret.data?.token ?? '') !== '';
  const isNamed = secret.metadata.annotations?.[uidAnnotation] === account.metadata.uid;
  if (isCurrent && hasToken && isNamed) return;
  const token = hasToken ? {} : { token: encoded(await issueToken(secret, account, context)) };
  const annotations = { [uidAnnotation]: account.metadata.uid };
  const body = { metadata: { uid, resourceVersion, annotations }, data: { ...fixed, ...token } };
  await context.client.patch(secrets, keyOf(secret), { type: 'merge', body }, { signal: context.signal });
}

async function issueToken(
  secret: Secret,
  account: ServiceAccount,
  { client, signal }: ReconcileContext,
): Promise<string> {
  const { name = '', uid = '' } = secret.metadata;
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: keyOf(account),
    spec: {
      audiences: [],
      expirationSeconds: longestSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name, uid },
    },
  };
  const reply = await client.create<KubernetesObject>(serviceAccounts, request, { subresource: 'token', signal });
  const token = textAt(fieldOf(reply, 'status'), 'token');
  if (token === undefined) throw new Error(`no token for service account ${account.metadata.name ?? ''} was issued`);
  return token;
}

async function remove(secret: Secret, { client, signal }: ReconcileContext): Promise<void> {
  const { uid = '', resourceVersion = '' } = secret.metadata;
  try {
    await client.delete(secrets, keyOf(secret), { preconditions: { uid, resourceVersion }, signal });
  } catch (error) {
    // Another one of that name by now, or another account was named in it: it is looked at anew.
    if (!isStatusError(error, 'Conflict')) throw error;
  }
}
