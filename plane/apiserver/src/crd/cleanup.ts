import type { ApiObject } from '../json.js';
import { deleteObject } from '../registry/delete.js';
import type { Resource } from '../registry/resource.js';
import { updateObject, type WriteTools } from '../registry/write.js';
import { cleanupFinalizer } from './crd-strategy.js';
import type { CustomResources } from './custom-resources.js';
import { withTermination } from './definition-status.js';
import type { DefinitionEstablishment } from './establish.js';

/**
 * Empties what a deleted CustomResourceDefinition defined: its objects are deleted, and once their own finalizers have
 * let all of them go, the definition goes too.
 */
export class DefinitionCleanup {
  private readonly crds: Resource;
  private readonly custom: CustomResources;
  private readonly establishment: DefinitionEstablishment;
  private readonly tools: () => WriteTools;
  private readonly log: (line: string) => void;
  private readonly inProgress = new Set<string>();

  constructor(options: {
    crds: Resource;
    custom: CustomResources;
    establishment: DefinitionEstablishment;
    tools: () => WriteTools;
    log: ((line: string) => void) | undefined;
  }) {
    this.crds = options.crds;
    this.custom = options.custom;
    this.establishment = options.establishment;
    this.tools = options.tools;
    this.log = options.log ?? (() => {});
  }

  /** Goes on with what a stopped server left. */
  resume(): void {
    const { cache, layout } = this.crds.store;
    cache.fresh().then(
      () => {
        const definitions = cache.list(layout.prefix).map(({ object }) => object);
        this.establishment.resume(definitions);
        for (const { metadata } of definitions) {
          if (metadata.deletionTimestamp !== undefined) this.begin(metadata.name ?? '');
        }
      },
      (error: unknown) => this.log(`cannot look for deleted definitions: ${messageOf(error)}`),
    );
  }

  /** Call when a definition was marked as deleted. */
  begin(name: string): void {
    if (this.inProgress.has(name)) return;
    this.inProgress.add(name);
    this.clean(name)
      .catch((error: unknown) => {
        this.log(`cannot remove the objects of ${name}: ${messageOf(error)}`);
      })
      .finally(() => this.inProgress.delete(name));
  }

  private async clean(name: string): Promise<void> {
    const tools = this.tools();
    await updateObject(
      this.crds,
      {
        namespace: undefined,
        name,
        subresource: 'status',
        change: (crd) => withTermination(crd, 'InstanceDeletionInProgress', tools.context),
        isReplacement: false,
      },
      tools,
    );
    const resource = await this.custom.storageVersion(name);
    if (resource !== undefined) await this.removeObjects(resource);
    const { store } = this.crds;
    const gone = await store.storage.get(store.layout.prefix + name);
    await store.storage.guaranteedUpdate(store.layout.prefix + name, (crd) => {
      const finalizers = (crd.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
      const object: ApiObject = { ...crd, metadata: { ...crd.metadata, finalizers } };
      return finalizers.length === 0 ? { type: 'delete', object } : { type: 'put', object };
    });
    if (gone !== undefined) await this.establishment.passNamesOn(gone);
  }

  private async removeObjects(resource: Resource): Promise<void> {
    const { cache, layout } = resource.store;
    await cache.fresh();
    for (const { object } of cache.list(layout.prefix)) {
      const { namespace, name = '', deletionTimestamp } = object.metadata;
      if (deletionTimestamp === undefined) {
        await deleteObject(resource, { namespace, name }, {}, this.tools().context);
      }
    }
    if (cache.list(layout.prefix).length === 0) return;
    await new Promise<void>((resolve, reject) => {
      const check = () => {
        if (cache.list(layout.prefix).length > 0) return;
        unlisten();
        resolve();
      };
      const unlisten = cache.listen({
        onAdvance: check,
        onEnd: () =>
          reject(new Error('the server stopped, or the definition changed, while objects with finalizers were left')),
      });
      check();
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
