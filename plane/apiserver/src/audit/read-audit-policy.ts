import { readFile } from 'node:fs/promises';
import type { AuditPolicy } from './audit-policy.js';
import { AuditPolicyError } from './audit-policy-error.js';

/**
 * Reads the file of `--audit-policy-file`; `parseAuditPolicy` says what is in it.
 *
 * @throws AuditPolicyError
 */
export async function readAuditPolicy(path: string): Promise<AuditPolicy> {
  const source = await readFile(path, 'utf8').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AuditPolicyError(`it cannot be read: ${reason}`);
  });
  // Only planes with a policy pay for it.
  const { parseAuditPolicy } = await import('./parse-audit-policy.js');
  return parseAuditPolicy(source);
}
