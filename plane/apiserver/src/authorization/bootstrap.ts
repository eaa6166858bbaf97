import { deepEqual, StatusError } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import type { Resource } from '../registry/resource.js';
import { createObject, updateObject, type WriteTools } from '../registry/write.js';
import { aggregatedRules, type RbacResources } from './role-based.js';

/**
 * The roles that every cluster has, and the rules of those that are made of others. They are made when they are first
 * asked for, or a moment after the start: writing them all would hold up who starts a plane.
 */
export class BootstrapRoles {
  private readonly resources: RbacResources;
  private readonly tools: WriteTools;
  private creating: Promise<void> | undefined;
  private aggregating: Promise<void> = Promise.resolve();

  constructor(resources: RbacResources, tools: WriteTools) {
    this.resources = resources;
    this.tools = tools;
  }

  /** Resolves when they are there. A failure is told to all who wait, and tried again by who asks next. */
  ready(): Promise<void> {
    this.creating ??= this.create().catch((error: unknown) => {
      this.creating = undefined;
      throw error;
    });
    return this.creating;
  }

  /** A ClusterRole was written: those that are made of others may hold other rules now. One run after another. */
  aggregate(): Promise<void> {
    this.aggregating = this.aggregating.catch(() => {}).then(() => this.aggregateNow());
    return this.aggregating;
  }

  private async create(): Promise<void> {
    // A table that only the first start needs.
    const { bootstrapObjects } = await import('./bootstrap-roles.js');
    const objects = bootstrapObjects();
    await Promise.all([
      ...objects.clusterRoles.map((object) => this.ensure(this.resources.clusterRoles, object)),
      ...objects.clusterRoleBindings.map((object) => this.ensure(this.resources.clusterRoleBindings, object)),
      ...objects.roles.map((object) => this.ensure(this.resources.roles, object)),
      ...objects.roleBindings.map((object) => this.ensure(this.resources.roleBindings, object)),
    ]);
    await this.aggregate();
  }

  private async ensure(resource: Resource, object: ApiObject): Promise<void> {
    try {
      await createObject(resource, object.metadata.namespace, object, this.tools);
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
    }
  }

  private async aggregateNow(): Promise<void> {
    const { store } = this.resources.clusterRoles;
    // A role that aggregates may be part of another (view of edit, edit of admin): until nothing changes any more.
    for (let isChanged = true; isChanged; ) {
      isChanged = false;
      await store.cache.fresh();
      const all = store.cache.list(store.layout.prefix).map(({ object }) => object);
      for (const role of all.filter(({ aggregationRule }) => aggregationRule !== undefined)) {
        const rules = aggregatedRules(role, all);
        const wanted = rules.length === 0 ? null : rules;
        if (deepEqual(wanted, role.rules ?? null)) continue;
        isChanged = true;
        await this.write(role, wanted);
      }
    }
  }

  private async write(role: ApiObject, rules: unknown): Promise<void> {
    const request = { namespace: undefined, name: role.metadata.name ?? '', subresource: '', isReplacement: false };
    try {
      await updateObject(
        this.resources.clusterRoles,
        { ...request, change: (current) => ({ ...current, rules }) },
        this.tools,
      );
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
    }
  }
}
