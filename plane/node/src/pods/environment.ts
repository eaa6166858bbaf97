import type { ConfigMap, Container, EnvVar, Pod, Secret } from '@castellan/machinery';
import { resourceFieldValue } from './resource-field.js';

/** Where a container's environment may come from besides its own manifest. */
export interface EnvironmentSources {
  /** As it is at this moment: annotations may have changed since the last start. */
  readonly pod: Pod;
  readonly nodeName: string;
  readonly hostIp: string;
  readonly podIp: string;
  /** Of the image and of the services of the namespace; the manifest overrides them. */
  readonly base: Readonly<Record<string, string>>;
  configMap(name: string): Promise<ConfigMap | undefined>;
  secret(name: string): Promise<Secret | undefined>;
}

/** The manifest names something that is not there. Becomes the reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}

/** In the order of Kubernetes: envFrom, then env, whose values may refer to what stands before them as $(NAME). */
export async function resolveEnvironment(
  container: Container,
  sources: EnvironmentSources,
): Promise<Readonly<Record<string, string>>> {
  const environment = new Map(Object.entries(sources.base));
  for (const from of container.envFrom ?? []) {
    const { name = '', optional } = from.configMapRef ?? from.secretRef ?? {};
    const data = from.secretRef === undefined ? await sources.configMap(name) : await sources.secret(name);
    if (data === undefined && optional !== true)
      throw missing(from.secretRef === undefined ? 'configmap' : 'secret', name);
    for (const [key, value] of Object.entries(textsOf(data))) environment.set(`${from.prefix ?? ''}${key}`, value);
  }
  for (const variable of container.env ?? []) {
    const value = await variableValue(variable, container, sources, environment);
    if (value !== undefined) environment.set(variable.name, value);
  }
  return Object.fromEntries(environment);
}

/** `$(NAME)` becomes the variable's value, `$$(NAME)` the text `$(NAME)`; an unknown name stays as it is. */
export function expand(
  text: string,
  environment: ReadonlyMap<string, string> | Readonly<Record<string, string>>,
): string {
  const variables = environment instanceof Map ? environment : new Map(Object.entries(environment));
  return text.replace(/\$\$|\$\(([^)]*)\)/g, (match, name: string | undefined) => {
    if (match === '$$') return '$';
    return variables.get(name ?? '') ?? match;
  });
}

async function variableValue(
  variable: EnvVar,
  container: Container,
  sources: EnvironmentSources,
  before: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const from = variable.valueFrom;
  if (from === undefined) return expand(variable.value ?? '', before);
  if (from.fieldRef !== undefined) return fieldValue(from.fieldRef.fieldPath, sources);
  if (from.resourceFieldRef !== undefined) {
    const value = resourceFieldValue(sources.pod, from.resourceFieldRef, container);
    if (value === undefined)
      throw new ContainerConfigError(`unsupported container resource : ${from.resourceFieldRef.resource}`);
    return value;
  }
  const reference = from.configMapKeyRef ?? from.secretKeyRef;
  if (reference === undefined) return '';
  const { name = '', key, optional } = reference;
  const kind = from.secretKeyRef === undefined ? 'configmap' : 'secret';
  const source = kind === 'configmap' ? await sources.configMap(name) : await sources.secret(name);
  if (source === undefined) {
    if (optional === true) return undefined;
    throw missing(kind, name);
  }
  const value = textsOf(source)[key];
  if (value === undefined && optional !== true) {
    const named = kind === 'secret' ? 'Secret' : 'ConfigMap';
    throw new ContainerConfigError(`couldn't find key ${key} in ${named} ${sources.pod.metadata.namespace}/${name}`);
  }
  return value;
}

/** The fields that the downward API offers, by path. */
export function fieldValue(
  path: string,
  { pod, nodeName, hostIp, podIp }: Pick<EnvironmentSources, 'pod' | 'nodeName' | 'hostIp' | 'podIp'>,
): string {
  const { metadata } = pod;
  const member = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(path);
  if (member !== null) {
    const map = member[1] === 'labels' ? metadata.labels : metadata.annotations;
    return map?.[member[2] ?? ''] ?? '';
  }
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
      return nodeName;
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return hostIp;
    case 'status.podIP':
    case 'status.podIPs':
      return podIp;
    default:
      throw new ContainerConfigError(`unsupported fieldPath: ${path}`);
  }
}

function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
    .join('\n');
}

/** Of a ConfigMap as they are; a Secret's are base64 in `data`. */
function textsOf(source: ConfigMap | Secret | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(bytesOf(source)).map(([key, value]) => [key, value.toString('utf8')]));
}

export function bytesOf(source: ConfigMap | Secret | undefined): Readonly<Record<string, Buffer>> {
  if (source === undefined) return {};
  if (source.kind === 'Secret' || 'stringData' in source || 'type' in source) return decoded(source.data);
  const texts = Object.entries(source.data ?? {}).map(([key, value]) => [key, Buffer.from(value)] as const);
  const binary = 'binaryData' in source ? decoded(source.binaryData) : {};
  return { ...Object.fromEntries(texts), ...binary };
}

function decoded(data: Readonly<Record<string, string>> = {}): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}

function missing(kind: 'configmap' | 'secret', name: string): ContainerConfigError {
  return new ContainerConfigError(`${kind} "${name}" not found`);
}
