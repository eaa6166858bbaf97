import {
  type ConfigMap,
  configMaps,
  isStatusError,
  type KubernetesObject,
  type Pod,
  pods,
  type ResourceType,
} from '@castellan/machinery';
import { type Controller, type Operator, ownerReferenceFor, type ReconcileContext } from '@castellan/runtime';

/** A greeter has so many pods, and a ConfigMap that says what they are to say. */
export interface Greeter extends KubernetesObject {
  readonly spec: { readonly pods: number; readonly text: string };
  readonly status?: { readonly ready: number; readonly observedGeneration: number };
}

export const greeters: ResourceType<Greeter> = {
  group: 'sample.castellan.dev',
  version: 'v1',
  kind: 'Greeter',
  plural: 'greeters',
  isNamespaced: true,
};

const greeterDefinition: KubernetesObject & { readonly spec: unknown } = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'greeters.sample.castellan.dev' },
  spec: {
    group: greeters.group,
    names: { kind: greeters.kind, plural: greeters.plural, singular: 'greeter', listKind: 'GreeterList' },
    scope: 'Namespaced',
    versions: [
      {
        name: greeters.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['pods', 'text'],
                properties: { pods: { type: 'integer' }, text: { type: 'string' } },
              },
              status: {
                type: 'object',
                properties: { ready: { type: 'integer' }, observedGeneration: { type: 'integer' } },
              },
            },
          },
        },
      },
    ],
  },
};

export function greeterOperator(
  reconcile: Controller['reconcile'] = (key, context) => reconcileGreeter(key, context),
): Operator {
  return {
    name: 'greeter',
    customResourceDefinitions: [greeterDefinition],
    controllers: [{ name: 'greeter', for: greeters, owns: [pods, configMaps], reconcile }],
  };
}

/** What a broken greeter leaves out. */
export interface Skipped {
  readonly text?: boolean;
  readonly status?: boolean;
}

/** Looks at everything it owns in each pass, and does one thing after another towards what the spec says. */
export async function reconcileGreeter(
  key: { readonly namespace?: string; readonly name: string },
  context: ReconcileContext,
  skipped: Skipped = {},
): Promise<undefined> {
  const greeter = context.cache.get(greeters, key);
  if (greeter === undefined || greeter.metadata.deletionTimestamp !== undefined) return;
  if (skipped.text !== true) await ensureText(greeter, context);
  const owned = context.cache.ownedBy(pods, greeter.metadata.uid ?? '');
  for (let index = 0; index < greeter.spec.pods; index++) await ensurePod(greeter, index, owned, context);
  for (const { metadata } of owned) {
    const index = Number(metadata.name?.split('-').at(-1));
    if (index >= greeter.spec.pods && metadata.deletionTimestamp === undefined) {
      const options = {
        ...(metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } }),
        signal: context.signal,
      };
      await context.client.delete(pods, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }, options);
    }
  }
  if (skipped.status === true) return;
  const ready = owned.filter(isReady).length;
  const observedGeneration = greeter.metadata.generation ?? 0;
  if (greeter.status?.ready === ready && greeter.status.observedGeneration === observedGeneration) return;
  await writeStatus(greeter, { ready, observedGeneration }, context);
}

async function writeStatus(
  greeter: Greeter,
  status: NonNullable<Greeter['status']>,
  { client, signal }: ReconcileContext,
): Promise<void> {
  await client.update(greeters, { ...greeter, status }, { subresource: 'status', signal });
}

async function ensureText(greeter: Greeter, { cache, client, signal }: ReconcileContext): Promise<void> {
  const { namespace = '', name = '' } = greeter.metadata;
  const present = cache.get(configMaps, { namespace, name });
  const data = { text: greeter.spec.text };
  if (present === undefined) {
    const made: ConfigMap = {
      metadata: { namespace, name, ownerReferences: [ownerReferenceFor(greeter, greeters)] },
      data,
    };
    await unlessThere(client.create(configMaps, made, { signal }));
  } else if (present.data?.text !== greeter.spec.text) {
    await client.update(configMaps, { ...present, data }, { signal });
  }
}

async function ensurePod(
  greeter: Greeter,
  index: number,
  owned: readonly Pod[],
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { namespace = '' } = greeter.metadata;
  const name = `${greeter.metadata.name}-${index}`;
  if (owned.some(({ metadata }) => metadata.name === name)) return;
  const pod: Pod = {
    metadata: { namespace, name, ownerReferences: [ownerReferenceFor(greeter, greeters)] },
    spec: { containers: [{ name: 'main', image: 'greeter:1' }] },
  };
  await unlessThere(client.create(pods, pod, { signal }));
}

async function unlessThere(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

export function greeter(spec: Greeter['spec'], name = 'hello'): Greeter {
  return { apiVersion: 'sample.castellan.dev/v1', kind: 'Greeter', metadata: { namespace: 'default', name }, spec };
}
