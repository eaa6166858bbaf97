/** The file is not a Policy of audit.k8s.io/v1 that can be used. The message has a line for each thing that is wrong. */
export class AuditPolicyError extends Error {
  override readonly name = 'AuditPolicyError';
  readonly code = 'AUDIT_POLICY';
}
