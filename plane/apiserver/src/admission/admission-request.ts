import { apiVersionOf } from '@castellan/machinery';
import type { JsonRecord } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { AdmissionContext } from './admission-plugin.js';

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;
const optionVersion = apiVersionOf({ group: 'meta.k8s.io', version: 'v1' });

/** A write as webhooks and expressions see it: `request` of admission.k8s.io/v1. */
export function admissionRequest(write: AdmissionWrite, { user, isDryRun, server }: AdmissionContext): JsonRecord {
  const { definition, subresource, operation, namespace, name } = write;
  const { kind, resource } = namesOf(definition);
  const requested = namesOf(write.requestedAs ?? definition);
  const below = subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource };
  return {
    uid: server.world.random.uuid(),
    kind,
    resource,
    requestKind: requested.kind,
    requestResource: requested.resource,
    ...below,
    ...(name === '' ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(user.extra === undefined ? {} : { extra: user.extra }),
    },
    object: write.object ?? null,
    oldObject: write.current ?? null,
    dryRun: isDryRun,
    options: operation === 'CONNECT' ? null : { kind: optionKinds[operation], apiVersion: optionVersion },
  };
}

function namesOf({ group, version, kind, plural }: ResourceDefinition) {
  return { kind: { group, version, kind }, resource: { group, version, resource: plural } };
}
