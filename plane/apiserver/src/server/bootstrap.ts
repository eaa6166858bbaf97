import { StatusError } from '@castellan/machinery';
import { systemPriorityClasses } from '../admission/pod-plugins.js';
import type { ApiObject } from '../json.js';
import { createObject, type WriteTools } from '../registry/write.js';
import type { Server } from '../request/server.js';

const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Under this name kube-apiserver owns the fields that it writes itself. */
export const ownWriter = { manager: 'kube-apiserver', operation: 'Update' } as const;

/** What clients take for granted: the four system namespaces and the API server's own service. */
export async function createSystemObjects(server: Server, ownAddress: string): Promise<void> {
  const namespaces = server.registry.builtin('', 'v1', 'namespaces');
  const tools = ownTools(server);
  for (const name of systemNamespaces) {
    const object: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await ignoreExisting(createObject(namespaces, undefined, object, tools));
  }
  const services = server.registry.builtin('', 'v1', 'services');
  await ignoreExisting(createObject(services, 'default', ownService(ownAddress), tools));
}

/** The priority classes that every cluster has. Pods may name them before they are there. */
export async function createPriorityClasses(server: Server): Promise<void> {
  const classes = server.registry.builtin('scheduling.k8s.io', 'v1', 'priorityclasses');
  for (const { name, value, description } of systemPriorityClasses) {
    const object: ApiObject = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      description,
    };
    await ignoreExisting(createObject(classes, undefined, object, ownTools(server)));
  }
}

function ownTools(server: Server): WriteTools {
  return {
    namespaces: server.registry.builtin('', 'v1', 'namespaces'),
    leases: server.leases,
    context: { world: server.world, isDryRun: false, userName: 'system:apiserver', writer: ownWriter },
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
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { clusterIP, ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }] },
  };
}
