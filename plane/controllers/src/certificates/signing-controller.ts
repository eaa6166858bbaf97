import {
  certifyRequest,
  type KeyedCertificate,
  readSigningRequest,
  type SigningRequest,
} from '@castellan/certificates';
import {
  type CertificateSigningRequest,
  certificateSigningRequests,
  isConditionTrue,
  isStatusError,
} from '@castellan/machinery';
import type { Controller } from '@castellan/runtime';
import { isOurSigner, signerProblem, usagesOf } from './signer-rules.js';

/** Of kube-controller-manager: `--cluster-signing-duration`, and what shorter wishes are raised to. */
const longestMs = 365 * 24 * 3600 * 1000;
const shortestMs = 10 * 60 * 1000;
/** Certificates are backdated by five minutes; longer ones end by as much sooner, so that they hold as long as was asked for. */
const backdatedMs = 5 * 60 * 1000;
const shortLivedMs = 8 * 3600 * 1000;

/**
 * Signs approved certificate requests of the signers `kubernetes.io/kube-apiserver-client`, `kubernetes.io/kube-apiserver-client-kubelet`
 * and `kubernetes.io/kubelet-serving`, by the plane's authority. What these do not sign becomes Failed, for good.
 */
export function certificateSigningController(authority: KeyedCertificate): Controller<CertificateSigningRequest> {
  return {
    name: 'certificate-signing',
    for: certificateSigningRequests,
    watches: [],
    concurrency: 1,
    async reconcile(key, { cache, client, world, signal }) {
      const request = cache.get(certificateSigningRequests, key);
      if (request === undefined || !isToBeSigned(request)) return undefined;
      const status = { ...request.status, ...outcomeOf(request, authority, world.clock.now()) };
      try {
        await client.update(certificateSigningRequests, { ...request, status }, { subresource: 'status', signal });
      } catch (error) {
        // It was written meanwhile, and is looked at again for that.
        if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
      }
      return undefined;
    },
  };
}

function isToBeSigned({ spec, status }: CertificateSigningRequest): boolean {
  const conditions = status?.conditions ?? [];
  return (
    isOurSigner(spec.signerName) &&
    (status?.certificate ?? '') === '' &&
    conditions.some(({ type }) => type === 'Approved') &&
    !conditions.some(({ type }) => type === 'Denied') &&
    !isConditionTrue(conditions, 'Failed')
  );
}

/** What changes in the status: a certificate, or the condition Failed. */
function outcomeOf(
  { spec, status }: CertificateSigningRequest,
  authority: KeyedCertificate,
  nowMs: number,
): CertificateSigningRequest['status'] {
  const usages = spec.usages ?? [];
  let problem: string | undefined;
  try {
    const request = readRequest(spec.request);
    problem = signerProblem(spec.signerName, request, usages);
    if (problem === undefined) {
      const lifetimeMs = lifetimeOf(spec.expirationSeconds);
      const certificate = certifyRequest({ authority, request, usages: usagesOf(usages), nowMs, lifetimeMs });
      return { certificate: Buffer.from(certificate).toString('base64') };
    }
  } catch (error) {
    // The request cannot be changed, so nothing mends it.
    problem = `unable to read the certificate request: ${error instanceof Error ? error.message : String(error)}`;
  }
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: problem,
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
  return { conditions: [...(status?.conditions ?? []), failed] };
}

/** `request` is PEM within base64. @throws Error when it is none, or its signature is not good */
export function readRequest(request: string): SigningRequest {
  return readSigningRequest(Buffer.from(request, 'base64').toString('latin1'));
}

function lifetimeOf(expirationSeconds: number | undefined): number {
  const askedMs = expirationSeconds === undefined ? longestMs : expirationSeconds * 1000;
  const lifetimeMs = Math.max(shortestMs, Math.min(askedMs, longestMs));
  return lifetimeMs < shortLivedMs ? lifetimeMs : lifetimeMs - backdatedMs;
}
