import type { Client } from '@castellan/client';
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  deepEqual,
  isStatusError,
  type Kind,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
} from '@castellan/machinery';
import { type World, waitFor } from '@castellan/world';

/**
 * Creates the definitions, or brings them to what the operators say now, and waits until the API serves them. Those of
 * `convertedKinds` are not created: webhooks do that, with the conversion (`createWebhooks`), and before there is one an API
 * server would take the versions for the same.
 */
export async function installKinds(
  client: Client,
  definitions: readonly KubernetesObject[],
  world: World,
  convertedKinds: readonly Kind[] = [],
): Promise<void> {
  const converted = new Set(convertedKinds.map(({ crd }) => crd.metadata.name));
  await Promise.all(
    definitions.map(async (definition) => {
      const isCreated = !converted.has(definition.metadata.name);
      await install(client, definition, world, isCreated);
    }),
  );
}

async function install(client: Client, definition: KubernetesObject, world: World, isCreated: boolean): Promise<void> {
  const key = keyOf(definition);
  const present = await client.find(customResourceDefinitions, key);
  if (present === undefined && !isCreated) return;
  if (present === undefined) {
    await client.create<KubernetesObject>(customResourceDefinitions, definition).catch((error: unknown) => {
      // Another process of the same operators was faster.
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    });
  } else if (!deepEqual(specOf(present), specOf(definition))) {
    await client.patch(customResourceDefinitions, key, { type: 'merge', body: { spec: specOf(definition) } });
  }
  await untilEstablished(client, key, world);
}

/** Until the API serves the kind of that definition. @throws Error after 10 s */
export async function untilEstablished(client: Client, key: ObjectKey, world: World): Promise<void> {
  await waitFor(world, async () => isEstablished(await client.get(customResourceDefinitions, key)), {
    what: `custom resource definition ${key.name} to be established`,
    deadlineMs: 10_000,
    everyMs: 10,
  });
}

function specOf(object: KubernetesObject): unknown {
  return 'spec' in object ? object.spec : undefined;
}

function isEstablished(definition: CustomResourceDefinition): boolean {
  return (
    definition.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true
  );
}
