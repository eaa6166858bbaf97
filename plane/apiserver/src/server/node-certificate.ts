import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueCertificate } from '@castellan/certificates';
import type { World } from '@castellan/world';
import { isPair, renewBeforeMs, writePrivate } from './certificates.js';
import type { Authority } from './plane-certificates.js';

/** PEM texts: who the agent of a node is, the user `system:node:NAME` of the group `system:nodes`. */
export interface NodeCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface NodeCertificateOptions {
  /** Where the plane's certificates are. */
  readonly directory: string;
  readonly authority: Authority;
  readonly world: World;
}

/** The certificate of a node's agent, made once and kept; made anew when it is about to end, or is not of `authority`. */
export async function ensureNodeCertificate(
  nodeName: string,
  options: NodeCertificateOptions,
): Promise<NodeCertificate> {
  const { directory, authority, world } = options;
  const keyPath = join(directory, `node-${nodeName}.key`);
  const certificatePath = join(directory, `node-${nodeName}.crt`);
  const kept = { key: await readIfThere(keyPath), certificate: await readIfThere(certificatePath) };
  if (isUsable(kept, options)) return kept;
  const issued = issueCertificate({
    authority,
    subject: { commonName: `system:node:${nodeName}`, organization: 'system:nodes' },
    usage: 'client',
    nowMs: world.clock.now(),
  });
  await writePrivate(keyPath, issued.key);
  await writePrivate(certificatePath, issued.certificate);
  return issued;
}

async function readIfThere(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '');
}

function isUsable({ certificate, key }: NodeCertificate, { authority, world }: NodeCertificateOptions): boolean {
  try {
    const node = new X509Certificate(certificate);
    const isLasting = Date.parse(node.validTo) > world.clock.now() + renewBeforeMs;
    return isLasting && isPair(node, key) && node.verify(new X509Certificate(authority.certificate).publicKey);
  } catch {
    return false;
  }
}
