import { type ApiObject, type JsonRecord, list, record, records, text } from '../json.js';

/** What a pod that leaves it unsaid gets. Source: the defaults in the Kubernetes API reference of core/v1. */
const specDefaults = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
} as const;

const containerDefaults = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
} as const;

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const;
/** 0644, in decimal as JSON has it. */
const defaultMode = 420;

export function withPodDefaults(pod: ApiObject): ApiObject {
  const spec = record(pod.spec);
  const defaulted = withTemplateDefaults(spec);
  return {
    ...pod,
    spec: {
      enableServiceLinks: true,
      ...defaulted,
      containers: list(defaulted.containers).map(withRequests),
      ...(spec.initContainers === undefined
        ? {}
        : { initContainers: list(defaulted.initContainers).map(withRequests) }),
    },
  };
}

/** The spec of a pod template: what a pod gets only when it is made is not in it. */
export function withTemplateDefaults(spec: JsonRecord): JsonRecord {
  const account = text(spec.serviceAccountName) || text(spec.serviceAccount) || '';
  return {
    ...specDefaults,
    ...spec,
    ...(account === '' ? {} : { serviceAccountName: account, serviceAccount: account }),
    ...(spec.containers === undefined ? {} : { containers: list(spec.containers).map(withContainerDefaults) }),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: list(spec.initContainers).map(withContainerDefaults) }),
    ...(spec.volumes === undefined ? {} : { volumes: list(spec.volumes).map(withVolumeDefaults) }),
  };
}

function withContainerDefaults(value: unknown): JsonRecord {
  const container = record(value);
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].filter((probe) => container[probe] !== undefined);
  return {
    imagePullPolicy: pullPolicy(text(container.image) ?? ''),
    ...containerDefaults,
    ...container,
    ...(container.ports === undefined
      ? {}
      : { ports: records(container.ports).map((port) => ({ protocol: 'TCP', ...port })) }),
    ...(container.env === undefined ? {} : { env: records(container.env).map(withEnvDefaults) }),
    ...Object.fromEntries(probes.map((probe) => [probe, withProbeDefaults(record(container[probe]))])),
  };
}

/** An image without a tag, or of the tag `latest`, may change under its name. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  const tag = name.split(':')[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function withEnvDefaults(variable: JsonRecord): JsonRecord {
  const valueFrom = record(variable.valueFrom);
  if (valueFrom.fieldRef === undefined) return variable;
  return {
    ...variable,
    valueFrom: { ...valueFrom, fieldRef: { apiVersion: 'v1', ...record(valueFrom.fieldRef) } },
  };
}

/** A limit without a request is the request too. */
function withRequests(value: unknown): JsonRecord {
  const container = record(value);
  const resources = record(container.resources);
  if (resources.limits === undefined) return container;
  const requests = { ...record(resources.limits), ...record(resources.requests) };
  return { ...container, resources: { ...resources, requests } };
}

function withProbeDefaults(probe: JsonRecord): JsonRecord {
  const { httpGet, grpc } = probe;
  return {
    ...probeDefaults,
    ...probe,
    ...(httpGet === undefined ? {} : { httpGet: { path: '/', scheme: 'HTTP', ...record(httpGet) } }),
    ...(grpc === undefined ? {} : { grpc: { service: '', ...record(grpc) } }),
  };
}

const sourcesWithMode = ['configMap', 'secret', 'downwardAPI', 'projected'];

function withVolumeDefaults(value: unknown): JsonRecord {
  const volume = record(value);
  const [source] = Object.keys(volume).filter((field) => field !== 'name');
  if (source === undefined) return { ...volume, emptyDir: {} };
  if (sourcesWithMode.includes(source)) return { ...volume, [source]: { defaultMode, ...record(volume[source]) } };
  return source === 'hostPath' ? { ...volume, hostPath: { type: '', ...record(volume.hostPath) } } : volume;
}

/** Guaranteed, Burstable or BestEffort, by the cpu and memory that all containers ask for. */
export function qosClassOf(pod: ApiObject): string {
  const spec = record(pod.spec);
  const resources = [...records(spec.containers), ...records(spec.initContainers)].map((container) =>
    record(container.resources),
  );
  const names = ['cpu', 'memory'];
  const hasAny = (amounts: JsonRecord) => names.some((name) => isPositive(amounts[name]));
  if (!resources.some(({ requests, limits }) => hasAny(record(requests)) || hasAny(record(limits))))
    return 'BestEffort';
  const isGuaranteed = resources.every((resource) => {
    const limits = record(resource.limits);
    const requests = record(resource.requests);
    return names.every((name) => isPositive(limits[name]) && String(limits[name]) === String(requests[name]));
  });
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function isPositive(quantity: unknown): boolean {
  return quantity !== undefined && Number.parseFloat(String(quantity)) > 0;
}
