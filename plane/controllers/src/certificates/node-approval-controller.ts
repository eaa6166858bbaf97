import type { SigningRequest } from '@castellan/certificates';
import type { Client } from '@castellan/client';
import {
  type CertificateSigningRequest,
  certificateSigningRequests,
  isStatusError,
  type KubernetesObject,
  type ResourceType,
} from '@castellan/machinery';
import type { Controller } from '@castellan/runtime';
import { nodeClientSigner, signerProblem } from './signer-rules.js';
import { readRequest } from './signing-controller.js';

interface AccessReview extends KubernetesObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly allowed?: boolean };
}

const accessReviews: ResourceType<AccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  isNamespaced: false,
};

/** Rights may be given later; no watch tells of them. */
const retryMs = 60_000;

/**
 * Approves requests for the client certificates of nodes, where who asks may `create certificatesigningrequests/selfnodeclient`
 * (for the node that it is) or `…/nodeclient`. Nothing else is approved unseen. Source: kube-controller-manager's csrapproving.
 */
export function nodeApprovalController(): Controller<CertificateSigningRequest> {
  return {
    name: 'node-certificate-approval',
    for: certificateSigningRequests,
    watches: [],
    concurrency: 1,
    async reconcile(key, { cache, client, signal }) {
      const request = cache.get(certificateSigningRequests, key);
      if (request === undefined || !isOpen(request)) return undefined;
      const asked = nodeRequestOf(request);
      if (asked === undefined) return undefined;
      const isSelf = asked.commonName === request.spec.username;
      const isSelfAllowed = isSelf && (await isAllowed(client, request, 'selfnodeclient', signal));
      if (!isSelfAllowed && !(await isAllowed(client, request, 'nodeclient', signal)))
        return { requeueAfterMs: retryMs };
      const whose = isSelfAllowed ? 'self kubelet' : 'kubelet';
      const message = `Auto approving ${whose} client certificate after SubjectAccessReview.`;
      const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
      const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), approved] };
      try {
        await client.update(certificateSigningRequests, { ...request, status }, { subresource: 'approval', signal });
      } catch (error) {
        // Somebody else has decided meanwhile.
        if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
      }
      return undefined;
    },
  };
}

function isOpen({ spec, status }: CertificateSigningRequest): boolean {
  const isDecided = status?.conditions?.some(({ type }) => type === 'Approved' || type === 'Denied') ?? false;
  return spec.signerName === nodeClientSigner && !isDecided && (status?.certificate ?? '') === '';
}

/** Undefined for what the signer would not sign: that is for a person to look at. */
function nodeRequestOf({ spec }: CertificateSigningRequest): SigningRequest | undefined {
  try {
    const request = readRequest(spec.request);
    return signerProblem(nodeClientSigner, request, spec.usages ?? []) === undefined ? request : undefined;
  } catch {
    return undefined;
  }
}

async function isAllowed(
  client: Client,
  { spec }: CertificateSigningRequest,
  subresource: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { username: user, uid, groups, extra } = spec;
  const resource = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', subresource };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user, uid, groups, extra, resourceAttributes: { ...resource, verb: 'create' } },
  };
  return (await client.create(accessReviews, review, { signal })).status?.allowed === true;
}
