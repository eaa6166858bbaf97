import type { ConfigMap, Node, PersistentVolume, PersistentVolumeClaim, Secret, Volume } from '@castellan/machinery';
import { bytesOf, type EnvironmentSources, fieldValue } from './environment.js';
import { type ResourceField, resourceFieldValue } from './resource-field.js';
import { VolumeError } from './volume-error.js';
import type { ProjectedFile } from './volume-files.js';

export type VolumeSources = Pick<
  EnvironmentSources,
  'pod' | 'nodeName' | 'hostIp' | 'podIp' | 'configMap' | 'secret'
> & {
  /** A token of the pod's service account, bound to the pod. */
  token(wanted: TokenWish): Promise<IssuedToken>;
  claim(name: string): Promise<PersistentVolumeClaim | undefined>;
  persistentVolume(name: string): Promise<PersistentVolume | undefined>;
  /** The node that the pod is on. */
  node(): Promise<Node | undefined>;
};

export interface TokenWish {
  /** The API server itself when absent. */
  readonly audience: string | undefined;
  readonly expirationSeconds: number;
}

export interface IssuedToken {
  readonly token: string;
  /** When it is to be replaced, milliseconds since the epoch. */
  readonly renewAtMs: number;
}

export interface VolumeContent {
  readonly files: readonly ProjectedFile[];
  /** When the files are to be written anew at the latest. */
  readonly renewAtMs?: number;
}

interface Item {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

type Projections = NonNullable<Volume['projected']>;

const defaultFileMode = 0o644;
const defaultTokenSeconds = 3600;

/**
 * The API server names this ConfigMap in every token volume, as the one it is compared with does; only OpenShift has
 * a service that publishes it. No pod waits for it.
 */
const serviceCaBundle = 'openshift-service-ca.crt';

/** What a volume's files say now, by the API. Throws a VolumeError when something is not there, or not offered. */
export async function projectedFiles(volume: Volume, sources: VolumeSources): Promise<VolumeContent> {
  if (volume.projected !== undefined) return await allProjections(volume.projected, sources);
  return { files: await ownFiles(volume, sources) };
}

async function allProjections(
  { defaultMode: mode = defaultFileMode, sources: parts = [] }: Projections,
  sources: VolumeSources,
): Promise<VolumeContent> {
  const renewals: number[] = [];
  const files = await Promise.all(
    parts.map(async (part) => {
      if (part.serviceAccountToken !== undefined) {
        const { path, audience, expirationSeconds } = part.serviceAccountToken;
        const issued = await sources.token({ audience, expirationSeconds: expirationSeconds ?? defaultTokenSeconds });
        renewals.push(issued.renewAtMs);
        return [{ path, content: Buffer.from(issued.token), mode }];
      }
      if (part.configMap !== undefined) return await configMapFiles(part.configMap, mode, sources);
      if (part.secret !== undefined) return await secretFiles(part.secret, mode, sources);
      if (part.downwardAPI !== undefined) return downwardFiles(part.downwardAPI.items ?? [], mode, sources);
      const kind = Object.keys(part)[0] ?? 'nothing';
      throw new VolumeError(
        `a projection of ${kind} is not offered by this node; next: use serviceAccountToken, configMap, secret or downwardAPI`,
      );
    }),
  );
  return { files: files.flat(), ...(renewals.length === 0 ? {} : { renewAtMs: Math.min(...renewals) }) };
}

async function ownFiles(volume: Volume, sources: VolumeSources): Promise<readonly ProjectedFile[]> {
  if (volume.configMap !== undefined) {
    return await configMapFiles(volume.configMap, volume.configMap.defaultMode ?? defaultFileMode, sources);
  }
  if (volume.secret !== undefined) {
    const { secretName, ...rest } = volume.secret;
    const named = { ...rest, ...(secretName === undefined ? {} : { name: secretName }) };
    return await secretFiles(named, volume.secret.defaultMode ?? defaultFileMode, sources);
  }
  if (volume.downwardAPI !== undefined) {
    return downwardFiles(volume.downwardAPI.items ?? [], volume.downwardAPI.defaultMode ?? defaultFileMode, sources);
  }
  const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'none';
  throw new VolumeError(
    `volume "${volume.name}" is of kind ${kind}, which this node does not offer; next: use emptyDir, configMap, secret, downwardAPI, projected, hostPath, persistentVolumeClaim or ephemeral`,
  );
}

interface NamedSource {
  readonly name?: string;
  readonly items?: readonly Item[];
  readonly optional?: boolean;
}

async function configMapFiles(
  source: NamedSource,
  mode: number,
  sources: VolumeSources,
): Promise<readonly ProjectedFile[]> {
  return namedFiles(await sources.configMap(source.name ?? ''), 'configmap', { source, mode });
}

async function secretFiles(
  source: NamedSource,
  mode: number,
  sources: VolumeSources,
): Promise<readonly ProjectedFile[]> {
  return namedFiles(await sources.secret(source.name ?? ''), 'secret', { source, mode });
}

function namedFiles(
  object: ConfigMap | Secret | undefined,
  kind: string,
  { source, mode }: { readonly source: NamedSource; readonly mode: number },
): readonly ProjectedFile[] {
  if (object === undefined) {
    if (source.optional === true || source.name === serviceCaBundle) return [];
    throw new VolumeError(`${kind} "${source.name}" not found`);
  }
  const contents = bytesOf(object);
  const items: readonly Item[] = source.items ?? Object.keys(contents).map((key) => ({ key, path: key }));
  return items.flatMap((item) => {
    const content = contents[item.key];
    if (content !== undefined) return [{ path: item.path, content, mode: item.mode ?? mode }];
    if (source.optional === true) return [];
    const reference =
      kind === 'secret' ? 'references non-existent secret key' : 'configmap references non-existent config key';
    throw new VolumeError(`${reference}: ${item.key}`);
  });
}

function downwardFiles(items: readonly DownwardItem[], mode: number, sources: VolumeSources): readonly ProjectedFile[] {
  return items.map((item) => ({
    path: item.path,
    content: Buffer.from(downwardValue(item, sources)),
    mode: item.mode ?? mode,
  }));
}

interface DownwardItem {
  readonly path: string;
  readonly mode?: number;
  readonly fieldRef?: { readonly fieldPath: string };
  readonly resourceFieldRef?: ResourceField;
}

function downwardValue({ fieldRef, resourceFieldRef }: DownwardItem, sources: VolumeSources): string {
  if (fieldRef !== undefined) return fieldValue(fieldRef.fieldPath, sources);
  const value = resourceFieldRef === undefined ? '' : resourceFieldValue(sources.pod, resourceFieldRef);
  if (value === undefined) throw new VolumeError(`unsupported container resource : ${resourceFieldRef?.resource}`);
  return value;
}
