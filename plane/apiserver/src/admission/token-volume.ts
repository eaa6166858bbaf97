import type { Random } from '@castellan/world';
import { type JsonRecord, records, text } from '../json.js';

const prefix = 'kube-api-access-';
const suffixLength = 5;
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
/** An hour; by the odd seven the server knows tokens of this volume, whose life it extends: see token-request.ts. */
const expirationSeconds = 3607;

/** Gives each container, where nothing is mounted at the place, the volume with token, certificate and namespace. */
export function withTokenVolume(spec: JsonRecord, random: Pick<Random, 'string'>): JsonRecord {
  const volumes = records(spec.volumes);
  const known = volumes.find(({ name }) => text(name)?.startsWith(prefix) === true);
  const name = text(known?.name) ?? `${prefix}${random.string(suffixLength)}`;
  let isMounted = false;
  const mounted = (container: JsonRecord): JsonRecord => {
    const mounts = records(container.volumeMounts);
    if (mounts.some((mount) => mount.mountPath === mountPath)) return container;
    isMounted = true;
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath }] };
  };
  const containers = records(spec.containers).map(mounted);
  const initContainers = records(spec.initContainers).map(mounted);
  return {
    ...spec,
    containers,
    ...(initContainers.length === 0 ? {} : { initContainers }),
    ...(known === undefined && isMounted ? { volumes: [...volumes, { name, projected }] } : {}),
  };
}

const projected = {
  sources: [
    { serviceAccountToken: { expirationSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
    // The recorded kube-apiserver names this too. Our node agents do not wait for it.
    { configMap: { name: 'openshift-service-ca.crt', items: [{ key: 'service-ca.crt', path: 'service-ca.crt' }] } },
  ],
  defaultMode: 0o644,
} as const;
