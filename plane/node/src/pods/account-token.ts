import type { Client } from '@castellan/client';
import { type KubernetesObject, type Pod, StatusError, serviceAccounts } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { IssuedToken, TokenWish } from './projected-files.js';
import { VolumeError } from './volume-error.js';

/** A token is replaced when this part of its life is over, and after a day at the latest, as kubelet does. */
const renewedAfter = 0.8;
const longestUseMs = 24 * 60 * 60 * 1000;

/** Has a token issued for a pod's account (TokenRequest), which ends with the pod at the latest. */
export async function requestToken(
  { client, world }: { readonly client: Client; readonly world: World },
  pod: Pod,
  { audience, expirationSeconds }: TokenWish,
): Promise<IssuedToken> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const account = pod.spec?.serviceAccountName ?? 'default';
  const issuedAtMs = world.clock.now();
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace, name: account },
    spec: {
      audiences: audience === undefined || audience === '' ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
  const reply = await client
    .create<KubernetesObject & { readonly status?: unknown }>(serviceAccounts, request, { subresource: 'token' })
    .catch((error: unknown) => {
      throw error instanceof StatusError ? new VolumeError(`failed to fetch token: ${error.message}`) : error;
    });
  const { token, expiresAtMs } = parseStatus(reply.status);
  if (token === undefined) throw new VolumeError(`no token for service account ${namespace}/${account} was issued`);
  const lifeMs = (expiresAtMs ?? issuedAtMs + expirationSeconds * 1000) - issuedAtMs;
  return { token, renewAtMs: issuedAtMs + Math.min(lifeMs * renewedAfter, longestUseMs) };
}

function parseStatus(status: unknown): { readonly token?: string; readonly expiresAtMs?: number } {
  if (typeof status !== 'object' || status === null) return {};
  const token = 'token' in status && typeof status.token === 'string' ? status.token : undefined;
  const expires = 'expirationTimestamp' in status ? Date.parse(String(status.expirationTimestamp)) : Number.NaN;
  return { ...(token === undefined ? {} : { token }), ...(Number.isNaN(expires) ? {} : { expiresAtMs: expires }) };
}
