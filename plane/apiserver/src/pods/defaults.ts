import { type ApiObject, count, type JsonRecord, record, records, text } from '../json.js';
import { withContainers } from './containers.js';
import { pullPolicyOf, withReferenceDefaults, withVolumeDefaults } from './volume-defaults.js';

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
export function withPodDefaults(pod: ApiObject): ApiObject {
  const spec = record(pod.spec);
  const defaulted = withTemplateDefaults(spec);
  return {
    ...pod,
    spec: {
      enableServiceLinks: true,
      ...withContainers(defaulted, (container) => withRequests(withHostPorts(container, spec.hostNetwork === true))),
    },
  };
}

/** The spec of a pod template: what a pod gets only when it is made is not in it. */
export function withTemplateDefaults(spec: JsonRecord): JsonRecord {
  const account = text(spec.serviceAccountName) || text(spec.serviceAccount) || '';
  return {
    ...specDefaults,
    ...withContainers(spec, withContainerDefaults),
    ...(account === '' ? {} : { serviceAccountName: account, serviceAccount: account }),
    ...(spec.volumes === undefined ? {} : { volumes: records(spec.volumes).map(withVolumeDefaults) }),
  };
}

function withContainerDefaults(container: JsonRecord): JsonRecord {
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].filter((probe) => container[probe] !== undefined);
  return {
    imagePullPolicy: pullPolicyOf(text(container.image) ?? ''),
    ...containerDefaults,
    ...container,
    ...(container.ports === undefined
      ? {}
      : { ports: records(container.ports).map((port) => ({ protocol: 'TCP', ...port })) }),
    ...(container.env === undefined ? {} : { env: records(container.env).map(withEnvDefaults) }),
    ...Object.fromEntries(probes.map((probe) => [probe, withProbeDefaults(record(container[probe]))])),
    ...(container.lifecycle === undefined ? {} : { lifecycle: withHookDefaults(record(container.lifecycle)) }),
  };
}

/** Without an own mapping, the ports of a container in its node's network are those of the node. */
function withHostPorts(container: JsonRecord, isHostNetwork: boolean): JsonRecord {
  if (!isHostNetwork || container.ports === undefined) return container;
  return {
    ...container,
    ports: records(container.ports).map((port) =>
      (count(port.hostPort) ?? 0) === 0 ? { ...port, hostPort: port.containerPort } : port,
    ),
  };
}

function withEnvDefaults(variable: JsonRecord): JsonRecord {
  return variable.valueFrom === undefined
    ? variable
    : { ...variable, valueFrom: withReferenceDefaults(record(variable.valueFrom)) };
}

/** A limit without a request is the request too. */
function withRequests(container: JsonRecord): JsonRecord {
  const resources = record(container.resources);
  if (resources.limits === undefined) return container;
  const requests = { ...record(resources.limits), ...record(resources.requests) };
  return { ...container, resources: { ...resources, requests } };
}

function withHookDefaults(lifecycle: JsonRecord): JsonRecord {
  const hooks = ['postStart', 'preStop'].filter((hook) => lifecycle[hook] !== undefined);
  return {
    ...lifecycle,
    ...Object.fromEntries(hooks.map((hook) => [hook, withHttpDefaults(record(lifecycle[hook]))])),
  };
}

function withHttpDefaults(handler: JsonRecord): JsonRecord {
  const { httpGet } = handler;
  return httpGet === undefined ? handler : { ...handler, httpGet: { path: '/', scheme: 'HTTP', ...record(httpGet) } };
}

function withProbeDefaults(probe: JsonRecord): JsonRecord {
  const { grpc } = probe;
  return {
    ...probeDefaults,
    ...withHttpDefaults(probe),
    ...(grpc === undefined ? {} : { grpc: { service: '', ...record(grpc) } }),
  };
}
