import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import type { Encryption } from '../encryption/encryption.js';
import type { ApiObject } from '../json.js';
import { at, records, text } from '../json.js';
import type { Resource, ResourceDefinition, ResourceStore } from '../registry/resource.js';
import { createResourceStore } from '../registry/resource.js';
import { customPrefix } from '../storage/keys.js';
import { customDefinition } from './custom-definition.js';
import { isEstablished } from './definition-status.js';
import type { PostReview, WebhookConversion } from './webhook-conversion.js';

interface Served {
  /** The definition object that this was made from. */
  readonly source: ApiObject;
  readonly store: ResourceStore;
  readonly versions: Map<string, Resource>;
}

/**
 * The resources that CustomResourceDefinitions define. Nothing is compiled before it is asked for, so that thousands of
 * definitions cost a start nothing.
 */
export class CustomResources {
  private readonly keyspace: Keyspace;
  private readonly world: World;
  private readonly encryption: Encryption;
  private readonly crds: Resource;
  private readonly conversion: WebhookConversion;
  private readonly settled: (name: string) => Promise<void> | undefined;
  private readonly served = new Map<string, Served>();

  /** `settled` resolves when the names of a definition that was just written are decided. */
  constructor(options: {
    keyspace: Keyspace;
    world: World;
    encryption: Encryption;
    crds: Resource;
    post: PostReview;
    settled: (name: string) => Promise<void> | undefined;
  }) {
    this.keyspace = options.keyspace;
    this.world = options.world;
    this.encryption = options.encryption;
    this.crds = options.crds;
    this.conversion = { post: options.post, uuid: () => options.world.random.uuid() };
    this.settled = options.settled;
  }

  async find(type: { group: string; version: string; plural: string }): Promise<Resource | undefined> {
    const { cache, layout } = this.crds.store;
    const name = `${type.plural}.${type.group}`;
    await this.settled(name);
    await cache.fresh();
    const source = cache.get(layout.prefix + name);
    if (source === undefined || !isEstablished(source)) {
      this.forget(name);
      return undefined;
    }
    return this.resource(name, source, type.version);
  }

  /** The other versions that are served of what a definition defines. */
  async versionsOf({ group, plural, version }: ResourceDefinition): Promise<readonly ResourceDefinition[]> {
    const { cache, layout } = this.crds.store;
    const name = `${plural}.${group}`;
    await cache.fresh();
    const source = cache.get(layout.prefix + name);
    if (source === undefined) return [];
    const others = servedVersions(source).filter((other) => other !== version);
    return others.flatMap((other) => this.resource(name, source, other)?.definition ?? []);
  }

  /** The storage version of a definition, while it is there: served or not, it reads what is stored as it is. */
  async storageVersion(name: string): Promise<Resource | undefined> {
    const { cache, layout } = this.crds.store;
    await cache.fresh();
    const source = cache.get(layout.prefix + name);
    const stored = records(at(source, 'spec', 'versions')).find(({ storage }) => storage === true);
    const version = text(stored?.name);
    if (source === undefined || version === undefined) return undefined;
    return { definition: this.definition(source, version), store: this.servedBy(name, source).store };
  }

  async definitions(): Promise<readonly ResourceDefinition[]> {
    const { cache, layout } = this.crds.store;
    await cache.fresh();
    const definitions: ResourceDefinition[] = [];
    for (const { object } of cache.list(layout.prefix)) {
      if (!isEstablished(object)) continue;
      for (const version of servedVersions(object)) {
        const resource = this.resource(object.metadata.name ?? '', object, version);
        if (resource !== undefined) definitions.push(resource.definition);
      }
    }
    return definitions;
  }

  /** The other definitions of a definition's group. */
  async neighbours(crd: ApiObject): Promise<readonly ApiObject[]> {
    const { cache, layout } = this.crds.store;
    await cache.fresh();
    const group = at(crd, 'spec', 'group');
    const objects = cache.list(layout.prefix).map(({ object }) => object);
    return objects.filter((other) => at(other, 'spec', 'group') === group && other.metadata.name !== crd.metadata.name);
  }

  close(): void {
    for (const name of [...this.served.keys()]) this.forget(name);
  }

  private resource(name: string, source: ApiObject, version: string): Resource | undefined {
    const served = this.servedBy(name, source);
    const known = served.versions.get(version);
    if (known !== undefined) return known;
    if (!servedVersions(source).includes(version)) return undefined;
    const resource = { definition: this.definition(source, version), store: served.store };
    served.versions.set(version, resource);
    return resource;
  }

  private definition(source: ApiObject, version: string): ResourceDefinition {
    return customDefinition(source, version, this.conversion);
  }

  /** A change of spec ends the watches of the old definition: its clients list again and see the new schema. */
  private servedBy(name: string, source: ApiObject): Served {
    const known = this.served.get(name);
    if (known !== undefined && isSameDefinition(known.source, source)) return known;
    this.forget(name);
    const group = text(at(source, 'spec', 'group')) ?? '';
    const plural = text(at(source, 'spec', 'names', 'plural')) ?? '';
    const layout = {
      prefix: customPrefix(group, plural),
      isNamespaced: at(source, 'spec', 'scope') === 'Namespaced',
    };
    const values = this.encryption.transformerOf({ group, plural });
    const store = createResourceStore({ keyspace: this.keyspace, world: this.world, layout, values });
    const served = { source, store, versions: new Map<string, Resource>() };
    this.served.set(name, served);
    return served;
  }

  private forget(name: string): void {
    this.served.get(name)?.store.cache.close();
    this.served.delete(name);
  }
}

function isSameDefinition(left: ApiObject, right: ApiObject): boolean {
  return left.metadata.uid === right.metadata.uid && left.metadata.generation === right.metadata.generation;
}

export function servedVersions(crd: ApiObject): readonly string[] {
  return records(at(crd, 'spec', 'versions'))
    .filter(({ served }) => served === true)
    .map(({ name }) => text(name) ?? '');
}
