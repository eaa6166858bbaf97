import type { ApiObject } from '../json.js';
import { timestamp } from '../registry/strategy.js';
import type { Server } from '../request/server.js';
import { type ApiGroup, isBuiltInGroup, servedGroups } from './groups.js';

export const apiServiceGroup = 'apiregistration.k8s.io';
/** Of the first built-in group; each that follows has less. */
const firstPriority = 18_000;
const priorityStep = 100;
const customPriorities = { groupPriorityMinimum: 1000, versionPriority: 100 } as const;

/**
 * Every group and version that this server serves has an APIService, which says that it is served here. They are made
 * when somebody asks for APIServices: nothing else needs them.
 */
export async function ensureApiServices(server: Server): Promise<void> {
  const { store } = server.registry.builtin(apiServiceGroup, 'v1', 'apiservices');
  const wanted = (await servedGroups(server)).flatMap((group, index) =>
    group.versions.map(({ version }, rank) => apiService(server, group, version, [index, rank])),
  );
  await store.cache.fresh();
  const present = store.cache.list(store.layout.prefix).map(({ object }) => object);
  const names = new Set(present.map(({ metadata }) => metadata.name));
  const wantedNames = new Set(wanted.map(({ metadata }) => metadata.name));
  for (const object of wanted.filter(({ metadata }) => !names.has(metadata.name))) {
    await store.storage.create(store.layout.prefix + (object.metadata.name ?? ''), object);
  }
  const isOwn = ({ metadata }: ApiObject) => metadata.labels?.[managedLabel] !== undefined;
  for (const { metadata } of present.filter((object) => isOwn(object) && !wantedNames.has(object.metadata.name))) {
    await store.storage.guaranteedUpdate(store.layout.prefix + (metadata.name ?? ''), (object) => ({
      type: 'delete',
      object,
    }));
  }
}

const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';

function apiService(
  server: Server,
  { name: group }: ApiGroup,
  version: string,
  [index, rank]: readonly [number, number],
): ApiObject {
  const now = timestamp(server.world);
  const isBuiltIn = isBuiltInGroup(group);
  const priorities = isBuiltIn
    ? { groupPriorityMinimum: firstPriority - index * priorityStep, versionPriority: 15 - rank }
    : customPriorities;
  return {
    apiVersion: `${apiServiceGroup}/v1`,
    kind: 'APIService',
    metadata: {
      name: `${version}.${group}`,
      uid: server.world.random.uuid(),
      creationTimestamp: now,
      labels: { [managedLabel]: isBuiltIn ? 'onstart' : 'true' },
    },
    spec: { ...(group === '' ? {} : { group }), version, ...priorities },
    status: {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: now,
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    },
  };
}
