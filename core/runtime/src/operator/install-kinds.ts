import type { Client } from '@castellan/client';
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  deepEqual,
  isStatusError,
  type KubernetesObject,
  keyOf,
} from '@castellan/machinery';
import { type World, waitFor } from '@castellan/world';

/** Creates the definitions, or brings them to what the operators say now, and waits until the API serves them. */
export async function installKinds(
  client: Client,
  definitions: readonly KubernetesObject[],
  world: World,
): Promise<void> {
  await Promise.all(definitions.map(async (definition) => await install(client, definition, world)));
}

async function install(client: Client, definition: KubernetesObject, world: World): Promise<void> {
  const key = keyOf(definition);
  const present = await client.find(customResourceDefinitions, key);
  if (present === undefined) {
    await client.create<KubernetesObject>(customResourceDefinitions, definition).catch((error: unknown) => {
      // Another process of the same operators was faster.
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    });
  } else if (!deepEqual(specOf(present), specOf(definition))) {
    await client.patch(customResourceDefinitions, key, { type: 'merge', body: { spec: specOf(definition) } });
  }
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
