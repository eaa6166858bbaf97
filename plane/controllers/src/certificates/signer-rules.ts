import type { CertificateUsage, SigningRequest } from '@castellan/certificates';

const clientSigner = 'kubernetes.io/kube-apiserver-client';
export const nodeClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const nodeServingSigner = 'kubernetes.io/kubelet-serving';

/** Of the usages that a CertificateSigningRequest can have, those that these signers sign for. */
const certificateUsages: ReadonlyMap<string, CertificateUsage> = new Map([
  ['digital signature', 'digitalSignature'],
  ['key encipherment', 'keyEncipherment'],
  ['client auth', 'clientAuth'],
  ['server auth', 'serverAuth'],
]);

type Rule = (request: SigningRequest, usages: readonly string[]) => string | undefined;

const rules: ReadonlyMap<string, Rule> = new Map([
  [clientSigner, (_, usages) => clientUsageProblem(usages)],
  [nodeClientSigner, nodeClientProblem],
  [nodeServingSigner, nodeServingProblem],
]);

/** Whether this signer is one of ours; others have signers of their own. */
export function isOurSigner(signerName: string): boolean {
  return rules.has(signerName);
}

/**
 * Why this signer may not sign, in the words of kube-controller-manager; undefined when it may. Source: Kubernetes, "Certificates
 * and Certificate Signing Requests", the table of Kubernetes' signers.
 */
export function signerProblem(
  signerName: string,
  request: SigningRequest,
  usages: readonly string[],
): string | undefined {
  return rules.get(signerName)?.(request, usages);
}

export function usagesOf(usages: readonly string[]): readonly CertificateUsage[] {
  return usages.flatMap((usage) => certificateUsages.get(usage) ?? []);
}

function clientUsageProblem(usages: readonly string[]): string | undefined {
  const allowed = ['digital signature', 'key encipherment', 'client auth'];
  const foreign = usages.find((usage) => !allowed.includes(usage));
  if (foreign !== undefined) return `invalid usage for client certificate: ${foreign}`;
  if (!usages.includes('client auth')) return 'missing required usage for client certificate: client auth';
  return undefined;
}

function nodeClientProblem(request: SigningRequest, usages: readonly string[]): string | undefined {
  const has = (type: string) => request.alternativeNames.some((name) => name.type === type);
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (has('dns')) return 'DNS subjectAltNames are not allowed';
  if (has('email')) return 'Email subjectAltNames are not allowed';
  if (has('ip')) return 'IP subjectAltNames are not allowed';
  if (has('uri')) return 'URI subjectAltNames are not allowed';
  return nodeNameProblem(request) ?? nodeUsageProblem(usages, 'client auth');
}

function nodeServingProblem(request: SigningRequest, usages: readonly string[]): string | undefined {
  const has = (type: string) => request.alternativeNames.some((name) => name.type === type);
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (!has('dns') && !has('ip')) return 'DNS or IP subjectAltName is required';
  if (has('email')) return 'Email subjectAltNames are not allowed';
  if (has('uri')) return 'URI subjectAltNames are not allowed';
  return nodeUsageProblem(usages, 'server auth') ?? nodeNameProblem(request);
}

function isOfNodes({ organizations }: SigningRequest): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

function nodeNameProblem({ commonName }: SigningRequest): string | undefined {
  return commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:';
}

/** Key encipherment is for RSA keys alone: who has another one may leave it out. */
function nodeUsageProblem(usages: readonly string[], purpose: string): string | undefined {
  const all = [purpose, 'digital signature', 'key encipherment'].sort();
  const isComplete = all.every((usage) => usage === 'key encipherment' || usages.includes(usage));
  const isAllowed = usages.every((usage) => all.includes(usage));
  return isComplete && isAllowed ? undefined : `usages did not match [${all.join(' ')}]`;
}
