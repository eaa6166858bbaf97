import { deepEqual, StatusError } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { deleteObject } from '../registry/delete.js';
import type { Resource } from '../registry/resource.js';
import { createObject, updateObject, type WriteTools } from '../registry/write.js';
import { storageKey } from '../storage/keys.js';
import { isOtherRole, reconciled } from './reconcile-role.js';
import { aggregatedRules, type RbacResources } from './role-based.js';

/**
 * The roles that every cluster has, and the rules of those that are made of others. They are made when they are first
 * asked for, or a moment after the start: writing them all would hold up who starts a plane. What they have lost since
 * is put back then, unless they say that they are to be left alone.
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

  private async ensure(resource: Resource, expected: ApiObject): Promise<void> {
    const { namespace, name = '' } = expected.metadata;
    const key = storageKey(resource.store.layout, { ...(namespace === undefined ? {} : { namespace }), name });
    const present = await resource.store.storage.get(key);
    if (present !== undefined && !isOtherRole(expected, present))
      return await this.reconcile(resource, expected, present);
    if (present !== undefined) await deleteObject(resource, { namespace, name }, {}, this.tools.context);
    try {
      await createObject(resource, namespace, expected, this.tools);
    } catch (error) {
      // Another server over the same keyspace was quicker.
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
    }
  }

  private async reconcile(resource: Resource, expected: ApiObject, present: ApiObject): Promise<void> {
    if (reconciled(expected, present) === undefined) return;
    const { namespace, name = '' } = expected.metadata;
    await this.update(resource, { namespace, name }, (current) => reconciled(expected, current) ?? current);
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
        const place = { namespace: undefined, name: role.metadata.name ?? '' };
        await this.update(this.resources.clusterRoles, place, (current) => ({ ...current, rules: wanted }));
      }
    }
  }

  /** One that is gone by now is left so. */
  private async update(
    resource: Resource,
    place: { readonly namespace: string | undefined; readonly name: string },
    change: (current: ApiObject) => ApiObject,
  ): Promise<void> {
    try {
      await updateObject(resource, { ...place, subresource: '', isReplacement: false, change }, this.tools);
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
    }
  }
}
