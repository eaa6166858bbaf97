import { StatusError } from '@castellan/machinery';
import { systemPriorityClasses } from '../admission/pod-plugins.js';
import type { ApiObject } from '../json.js';
import type { Resource } from '../registry/resource.js';
import { createObject, type WriteTools } from '../registry/write.js';
import type { Server } from '../request/server.js';
import type { ServiceAddresses } from '../strategies/service-addresses.js';
import { ownerOf } from '../strategies/service-fields.js';

const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export const ownUser = { name: 'system:apiserver', groups: ['system:masters'] } as const;
/** Under this name kube-apiserver owns the fields that it writes itself. */
export const ownWriter = { manager: 'kube-apiserver', operation: 'Update' } as const;

/**
 * What clients take for granted: the four system namespaces, the API server's own service and the priority classes that
 * every cluster has. Those that do not need each other are written at once, so that they share a commit.
 */
export async function createSystemObjects(server: Server, addresses: ServiceAddresses): Promise<void> {
  const namespaces = server.registry.builtin('', 'v1', 'namespaces');
  const classes = server.registry.builtin('scheduling.k8s.io', 'v1', 'priorityclasses');
  const tools = ownTools(server);
  const create = (resource: Resource, namespace: string | undefined, object: ApiObject) =>
    ignoreExisting(createObject(resource, namespace, object, tools));
  await Promise.all(systemNamespaces.map((name) => create(namespaces, undefined, namespaceObject(name))));
  await Promise.all([
    createOwnService(server, addresses),
    ...systemPriorityClasses.map((priorityClass) => create(classes, undefined, priorityClassObject(priorityClass))),
  ]);
}

async function createOwnService(server: Server, addresses: ServiceAddresses): Promise<void> {
  const services = server.registry.builtin('', 'v1', 'services');
  const { store } = services;
  const service = ownService(addresses.first);
  const owner = ownerOf(service);
  const isThere = async () => (await store.storage.get(store.layout.prefix + owner)) !== undefined;
  const create = () => ignoreExisting(createObject(services, 'default', service, ownTools(server)));
  if (await isThere()) return;
  try {
    await create();
  } catch {
    // Another server was faster, or one that was killed holds the address for a service that it never wrote.
    if (await isThere()) return;
    await addresses.release(addresses.first, owner);
    await create();
  }
}

function namespaceObject(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function priorityClassObject({ name, value, description }: (typeof systemPriorityClasses)[number]): ApiObject {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, description };
}

export function ownTools(server: Server): WriteTools {
  return {
    namespaces: server.registry.builtin('', 'v1', 'namespaces'),
    leases: server.leases,
    context: { world: server.world, isDryRun: false, user: ownUser, writer: ownWriter },
  };
}

async function ignoreExisting(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
  }
}

function ownService(clusterIP: string): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { clusterIP, ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }] },
  };
}
