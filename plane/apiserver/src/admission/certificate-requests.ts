import { deepEqual } from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { at, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import type { AdmissionContext, AdmissionPlugin } from './admission-plugin.js';

const group = 'certificates.k8s.io';
const clientSigner = 'kubernetes.io/kube-apiserver-client';

/** CertificateApproval: who approves or denies a request must be allowed to for its signer. */
export const certificateApproval: AdmissionPlugin = {
  handles: (write) => isUpdateBelow(write, 'approval'),
  validate: (write, context) => assertMay('approve', write, context),
};

/** CertificateSigning: so must who puts the certificate there, or says that there will be none. */
export const certificateSigning: AdmissionPlugin = {
  handles: (write) => isUpdateBelow(write, 'status'),
  async validate(write, context) {
    const { object, current } = write;
    const isSame = ['certificate', 'conditions'].every((field) =>
      deepEqual(at(object, 'status', field), at(current, 'status', field)),
    );
    if (!isSame) await assertMay('sign', write, context);
  },
};

/** CertificateSubjectRestriction: no certificate makes an administrator by its group. */
export const certificateSubject: AdmissionPlugin = {
  handles: (write) => write.operation === 'CREATE' && isRequest(write) && write.subresource === '',
  validate({ definition, name, object }) {
    if (text(at(object, 'spec', 'signerName')) !== clientSigner) return;
    if (!asksForAdministrators(text(at(object, 'spec', 'request')) ?? '')) return;
    const problem = `use of ${clientSigner} signer with system:masters group is not allowed`;
    throw forbidden(definition, name, problem);
  },
};

function isRequest({ definition }: AdmissionWrite): boolean {
  return definition.group === group && definition.plural === 'certificatesigningrequests';
}

function isUpdateBelow(write: AdmissionWrite, subresource: string): boolean {
  return write.operation === 'UPDATE' && isRequest(write) && write.subresource === subresource;
}

/** A right on the signer, or on all of its domain: `example.com/*`. */
async function assertMay(
  verb: 'approve' | 'sign',
  { definition, name, current }: AdmissionWrite,
  { server, user }: AdmissionContext,
): Promise<void> {
  const signer = text(at(current, 'spec', 'signerName')) ?? '';
  const asked = { type: 'resource', user, verb, group, resource: 'signers', subresource: '', namespace: '' } as const;
  for (const each of [signer, `${signer.split('/')[0] ?? ''}/*`]) {
    if ((await server.authorizer.decide({ ...asked, name: each })).isAllowed) return;
  }
  throw forbidden(definition, name, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

/** The type `organizationName` (2.5.4.10) of a part of a name, in DER; its value follows: tag, length, text. */
const organization = Buffer.of(0x06, 0x03, 0x55, 0x04, 0x0a);
const administrators = Buffer.from('system:masters');

/** Whether the group is anywhere in a certificate request (PEM within base64). */
function asksForAdministrators(request: string): boolean {
  const pem = Buffer.from(request, 'base64').toString('latin1');
  const [, body = ''] = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END/.exec(pem) ?? [];
  const der = Buffer.from(body, 'base64');
  for (let place = der.indexOf(organization); place >= 0; place = der.indexOf(organization, place + 1)) {
    const value = place + organization.length + 2;
    const length = der[value - 1] ?? 0;
    if (length === administrators.length && administrators.equals(der.subarray(value, value + length))) return true;
  }
  return false;
}
