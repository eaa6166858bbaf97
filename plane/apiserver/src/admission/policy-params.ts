import { matchesLabels } from '@castellan/machinery';
import { type ApiObject, at, record, text } from '../json.js';
import { present, type Resource } from '../registry/resource.js';
import type { Server } from '../request/server.js';
import { storageKey } from '../storage/keys.js';
import { labelSelectorIn } from './rule-match.js';

/** What a binding says about parameters cannot be done. Counts by the policy's failure policy. */
export class BindingProblem extends Error {
  override readonly name = 'BindingProblem';
}

/**
 * The objects that a binding gives to its policy as `params`, by name or by label: the policy judges once with each.
 * `[undefined]` where it takes none; none at all where the binding lets writes pass without them.
 *
 * @throws BindingProblem
 */
export async function paramsOf(
  { policy, binding }: { readonly policy: ApiObject; readonly binding: ApiObject },
  namespace: string | undefined,
  server: Server,
): Promise<readonly (ApiObject | undefined)[]> {
  const kind = record(at(policy, 'spec', 'paramKind'));
  const reference = at(binding, 'spec', 'paramRef') ?? undefined;
  if (kind.kind === undefined || reference === undefined) return [undefined];
  const resource = await resourceOf(kind, server);
  const found = await select(resource, reference, placeOf(resource, reference, namespace));
  if (found.length === 0 && at(reference, 'parameterNotFoundAction') === 'Deny') {
    throw new BindingProblem('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

async function resourceOf(kind: { readonly [field: string]: unknown }, server: Server): Promise<Resource> {
  const apiVersion = text(kind.apiVersion) ?? '';
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const definitions = await server.registry.definitions();
  const definition = definitions.find(
    (each) => each.group === group && each.version === version && each.kind === kind.kind,
  );
  const resource = definition === undefined ? undefined : await server.registry.find(definition);
  if (resource !== undefined) return resource;
  const type = group === '' ? `/${version}` : apiVersion;
  throw new BindingProblem(`paramKind kind \`${type}, Kind=${String(kind.kind)}\` not known`);
}

/** Parameters are of the write's own namespace unless the binding names another. */
function placeOf({ definition }: Resource, reference: unknown, own: string | undefined): string | undefined {
  const told = text(at(reference, 'namespace')) ?? '';
  if (!definition.isNamespaced) {
    if (told === '') return undefined;
    throw new BindingProblem('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const namespace = told || (own ?? '');
  if (namespace !== '') return namespace;
  throw new BindingProblem('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
}

async function select(
  { definition, store }: Resource,
  reference: unknown,
  namespace: string | undefined,
): Promise<readonly ApiObject[]> {
  const name = text(at(reference, 'name')) ?? '';
  const place = namespace === undefined ? {} : { namespace };
  if (name !== '') {
    const found = await store.storage.get(storageKey(store.layout, { ...place, name }));
    return found === undefined ? [] : [present(definition, found)];
  }
  const selector = labelSelectorIn(at(reference, 'selector'));
  await store.cache.fresh();
  const prefix = namespace === undefined ? store.layout.prefix : `${store.layout.prefix}${namespace}/`;
  return store.cache
    .list(prefix)
    .filter(({ object }) => matchesLabels(selector, object.metadata.labels))
    .map(({ object }) => present(definition, object));
}
