import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import type { CustomResources } from '../crd/custom-resources.js';
import type { Encryption } from '../encryption/encryption.js';
import { builtinPrefix, rangeOfPrefix } from '../storage/keys.js';
import { type BuiltInStrategies, builtInKinds } from './built-in-kinds.js';
import { createResourceStore, type Resource, type ResourceDefinition, type ResourceStore } from './resource.js';

/** Every resource that this server serves, built in or defined by a CustomResourceDefinition. */
export class Registry {
  private readonly builtIn = new Map<string, Resource>();
  private readonly stores = new Map<string, ResourceStore>();
  private custom: CustomResources | undefined;

  private readonly keyspace: Keyspace;

  constructor(options: { keyspace: Keyspace; world: World; encryption: Encryption; strategies: BuiltInStrategies }) {
    this.keyspace = options.keyspace;
    for (const definition of builtInKinds(options.strategies)) {
      const prefix = builtinPrefix(definition.group, definition.plural);
      const layout = { prefix, isNamespaced: definition.isNamespaced };
      const store =
        this.stores.get(prefix) ??
        createResourceStore({ ...options, layout, values: options.encryption.transformerOf(definition) });
      this.stores.set(prefix, store);
      this.builtIn.set(keyOf(definition), { definition, store });
    }
  }

  serveCustom(custom: CustomResources): void {
    this.custom = custom;
  }

  /** The resource at a group, version and plural; reads definitions that were acknowledged before the call. */
  async find(type: { group: string; version: string; plural: string }): Promise<Resource | undefined> {
    return this.builtIn.get(keyOf(type)) ?? (await this.custom?.find(type));
  }

  isBuiltInGroup(group: string): boolean {
    return [...this.builtIn.values()].some(({ definition }) => definition.group === group);
  }

  /** A built-in resource that is always there. */
  builtin(group: string, version: string, plural: string): Resource {
    const resource = this.builtIn.get(keyOf({ group, version, plural }));
    if (resource === undefined) throw new Error(`${plural}.${version}.${group} is not in the table of kinds`);
    return resource;
  }

  /** The same objects in other versions, or other groups. */
  async equivalentsOf(definition: ResourceDefinition): Promise<readonly ResourceDefinition[]> {
    const { group, version, plural } = definition;
    if (definition.isCustom) return (await this.custom?.versionsOf(definition)) ?? [];
    const { store } = this.builtin(group, version, plural);
    const shared = [...this.builtIn.values()].filter((other) => other.store === store);
    return shared.map((other) => other.definition).filter((other) => other !== definition);
  }

  /** All definitions now served, built-in ones first. */
  async definitions(): Promise<readonly ResourceDefinition[]> {
    const builtIn = [...this.builtIn.values()].map(({ definition }) => definition);
    return [...builtIn, ...((await this.custom?.definitions()) ?? [])];
  }

  /**
   * Opens the first stored object of each built-in resource, so that a server without the keys of what is encrypted does
   * not start.
   *
   * @throws DecryptionError
   */
  async assertReadable(): Promise<void> {
    const firstOf = async ({ layout, codec }: ResourceStore) => {
      const { keyValues } = await this.keyspace.range(rangeOfPrefix(layout.prefix), { limit: 1 });
      for (const stored of keyValues) codec.decode(stored);
    };
    await Promise.all([...this.stores.values()].map(firstOf));
  }

  close(): void {
    for (const store of this.stores.values()) store.cache.close();
    this.custom?.close();
  }
}

function keyOf({ group, version, plural }: { group: string; version: string; plural: string }): string {
  return `${group}/${version}/${plural}`;
}
