import { type JsonRecord, record, records, text } from '../json.js';

/** 0644, in decimal as JSON has it. */
const defaultMode = 420;
const tokenSeconds = 3600;

/** What a source of a volume that leaves it unsaid gets. Source: the defaults of core/v1. */
const sourceDefaults: Readonly<Record<string, JsonRecord>> = {
  azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  configMap: { defaultMode },
  downwardAPI: { defaultMode },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  projected: { defaultMode },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
  secret: { defaultMode },
};

export function withVolumeDefaults(volume: JsonRecord): JsonRecord {
  const sources = Object.keys(volume).filter((field) => field !== 'name');
  if (sources.length === 0) return { ...volume, emptyDir: {} };
  const filled = sources.map((source) => [source, withSourceDefaults(source, record(volume[source]))] as const);
  return { ...volume, ...Object.fromEntries(filled) };
}

/** One source of a volume with what it leaves unsaid. */
export function withSourceDefaults(kind: string, source: JsonRecord): JsonRecord {
  const filled = { ...(Object.hasOwn(sourceDefaults, kind) ? sourceDefaults[kind] : {}), ...source };
  switch (kind) {
    case 'downwardAPI':
      return withItems(filled);
    case 'projected':
      return { ...filled, sources: records(source.sources).map(withProjectionDefaults) };
    case 'ephemeral':
      return source.volumeClaimTemplate === undefined ? filled : withClaimDefaults(filled);
    case 'image':
      return { pullPolicy: pullPolicyOf(text(source.reference) ?? ''), ...filled };
    default:
      return filled;
  }
}

function withProjectionDefaults(projection: JsonRecord): JsonRecord {
  const { downwardAPI, serviceAccountToken } = projection;
  return {
    ...projection,
    ...(downwardAPI === undefined ? {} : { downwardAPI: withItems(record(downwardAPI)) }),
    ...(serviceAccountToken === undefined
      ? {}
      : { serviceAccountToken: { expirationSeconds: tokenSeconds, ...record(serviceAccountToken) } }),
  };
}

function withItems(source: JsonRecord): JsonRecord {
  if (source.items === undefined) return source;
  return { ...source, items: records(source.items).map(withReferenceDefaults) };
}

function withClaimDefaults(source: JsonRecord): JsonRecord {
  const template = record(source.volumeClaimTemplate);
  const spec = { volumeMode: 'Filesystem', ...record(template.spec) };
  return { ...source, volumeClaimTemplate: { metadata: {}, ...template, spec } };
}

/** What tells a container of its own pod: a field, or what a container asks for. */
export function withReferenceDefaults(source: JsonRecord): JsonRecord {
  const { fieldRef, resourceFieldRef } = source;
  return {
    ...source,
    ...(fieldRef === undefined ? {} : { fieldRef: { apiVersion: 'v1', ...record(fieldRef) } }),
    ...(resourceFieldRef === undefined ? {} : { resourceFieldRef: { divisor: '0', ...record(resourceFieldRef) } }),
  };
}

/** An image without a tag, or of the tag `latest`, may change under its name. */
export function pullPolicyOf(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  const tag = name.split(':')[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}
