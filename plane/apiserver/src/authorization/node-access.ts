import { type ApiObject, at, text } from '../json.js';
import type { Registry } from '../registry/registry.js';
import type { Resource } from '../registry/resource.js';
import { storageKey } from '../storage/keys.js';
import type { Attributes, Decision, ResourceAttributes } from './attributes.js';
import { nodeOf } from './node-identity.js';
import { type PodReferences, referencesOf } from './node-references.js';
import { type PolicyRule, parseRules, ruleAllows } from './policy-rule.js';

const leaseNamespace = 'kube-node-lease';
const allowed: Decision = { isAllowed: true, reason: '' };
const silent: Decision = { isAllowed: false, reason: '' };
const no = (reason: string): Decision => ({ isAllowed: false, reason });

type Judge = (node: string, attributes: ResourceAttributes) => Decision | Promise<Decision>;

/**
 * The Node authoriser: a node reads what its own pods name, and nothing of the others. Which objects it may write is for
 * the NodeRestriction admission, which sees them. See kubernetes.io/docs/reference/access-authn-authz/node.
 */
export class NodeAccess {
  private readonly registry: Registry;
  private rules: Promise<readonly PolicyRule[]> | undefined;
  /** By `group/plural`. What is not here goes by the rules of the role system:node. */
  private readonly judges: Readonly<Record<string, Judge>>;

  constructor(registry: Registry) {
    this.registry = registry;
    this.judges = {
      '/secrets': this.reading(({ secrets }, name) => secrets.has(name)),
      '/configmaps': this.reading(({ configMaps }, name) => configMaps.has(name)),
      '/persistentvolumeclaims': (node, asked) =>
        asked.subresource === 'status' ? this.claimStatus(node, asked) : this.getting(node, asked, isClaimed),
      '/persistentvolumes': (node, asked) => this.volume(node, asked),
      '/serviceaccounts': (node, asked) => this.token(node, asked),
      '/nodes': (node, asked) => ofNodes(node, asked),
      '/pods': (node, asked) => this.pods(node, asked),
      'coordination.k8s.io/leases': ofLeases,
      'storage.k8s.io/csinodes': ofCsiNodes,
      'storage.k8s.io/volumeattachments': (node, asked) => this.attachment(node, asked),
      'resource.k8s.io/resourceclaims': (node, asked) =>
        this.getting(node, asked, ({ resourceClaims }, name) => resourceClaims.has(name)),
    };
  }

  /** Nothing for who is no node. */
  async decide(attributes: Attributes): Promise<Decision | undefined> {
    const node = nodeOf(attributes.user);
    if (node === undefined) return undefined;
    if (node === '') return no(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    if (attributes.type === 'resource') {
      const kind = `${attributes.group}/${attributes.resource}`;
      const judge = Object.hasOwn(this.judges, kind) ? this.judges[kind] : undefined;
      if (judge !== undefined) return await judge(node, attributes);
    }
    this.rules ??= nodeRules();
    return (await this.rules).some((rule) => ruleAllows(rule, attributes)) ? allowed : silent;
  }

  private reading(isNamed: (references: PodReferences, name: string) => boolean): Judge {
    return (node, asked) => {
      if (!['get', 'list', 'watch'].includes(asked.verb)) return no('can only read resources of this type');
      if (asked.subresource !== '') return no('cannot read subresource');
      if (asked.namespace === '') return no('can only read namespaced object of this type');
      return this.related(node, asked, isNamed);
    };
  }

  private getting(
    node: string,
    asked: ResourceAttributes,
    isNamed: (references: PodReferences, name: string) => boolean,
  ): Decision | Promise<Decision> {
    return refusedGet(asked) ?? this.related(node, asked, isNamed);
  }

  private claimStatus(node: string, asked: ResourceAttributes): Decision | Promise<Decision> {
    if (!['update', 'patch'].includes(asked.verb)) return no('can only get/update/patch this type');
    return this.related(node, asked, isClaimed);
  }

  /** Some pod of the node names the object. */
  private async related(
    node: string,
    { namespace, name }: ResourceAttributes,
    isNamed: (references: PodReferences, name: string) => boolean,
  ): Promise<Decision> {
    if (name === '') return no('No Object name found');
    const isRelated = await this.somePod(node, namespace, (pod) => isNamed(referencesOf(pod), name));
    return isRelated ? allowed : unrelated(node);
  }

  private async volume(node: string, asked: ResourceAttributes): Promise<Decision> {
    const refused = refusedGet(asked);
    if (refused !== undefined) return refused;
    if (asked.name === '') return no('No Object name found');
    const volume = await this.find('', 'persistentvolumes', { name: asked.name });
    const namespace = text(at(volume, 'spec', 'claimRef', 'namespace'));
    const claim = text(at(volume, 'spec', 'claimRef', 'name')) ?? '';
    if (namespace === undefined) return unrelated(node);
    const isRelated = await this.somePod(node, namespace, (pod) => isClaimed(referencesOf(pod), claim));
    return isRelated ? allowed : unrelated(node);
  }

  private async attachment(node: string, asked: ResourceAttributes): Promise<Decision> {
    const refused = refusedGet(asked);
    if (refused !== undefined) return refused;
    if (asked.name === '') return no('No Object name found');
    const attachment = await this.find('storage.k8s.io', 'volumeattachments', { name: asked.name });
    return at(attachment, 'spec', 'nodeName') === node ? allowed : unrelated(node);
  }

  private token(node: string, asked: ResourceAttributes): Decision | Promise<Decision> {
    if (asked.verb !== 'create' || asked.name === '')
      return no('can only create tokens for individual service accounts');
    if (asked.subresource !== 'token') return no('can only create token subresource of service account');
    return this.related(node, asked, ({ serviceAccount }, name) => serviceAccount === name);
  }

  private async pods(node: string, asked: ResourceAttributes): Promise<Decision> {
    const { subresource, verb, namespace, name, fieldSelector = '' } = asked;
    if (subresource === 'status') return ['get', 'update', 'patch'].includes(verb) ? allowed : silent;
    if (subresource === 'eviction') return verb === 'create' ? allowed : silent;
    if (subresource !== '') return silent;
    if (verb === 'create' || verb === 'delete') return allowed;
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return silent;
    if (verb !== 'get' && fieldSelector.split(',').some((term) => isNodeTerm(term, node))) return allowed;
    if (name === '') return no('can only list/watch pods with spec.nodeName field selector');
    const pod = await this.find('', 'pods', { namespace, name });
    return at(pod, 'spec', 'nodeName') === node ? allowed : unrelated(node);
  }

  private async somePod(node: string, namespace: string, is: (pod: ApiObject) => boolean): Promise<boolean> {
    const { store } = this.registry.builtin('', 'v1', 'pods');
    await store.cache.fresh();
    return store.cache
      .list(`${store.layout.prefix}${namespace}/`)
      .some(({ object }) => at(object, 'spec', 'nodeName') === node && is(object));
  }

  private async find(
    group: string,
    plural: string,
    key: { readonly namespace?: string; readonly name: string },
  ): Promise<ApiObject | undefined> {
    const resource: Resource = this.registry.builtin(group, 'v1', plural);
    return await resource.store.storage.get(storageKey(resource.store.layout, key));
  }
}

const isClaimed = ({ claims }: PodReferences, name: string): boolean => claims.has(name);

function unrelated(node: string): Decision {
  return no(`no relationship found between node '${node}' and this object`);
}

function refusedGet({ verb, subresource }: ResourceAttributes): Decision | undefined {
  if (verb !== 'get') return no('can only get individual resources of this type');
  return subresource === '' ? undefined : no('cannot get subresource');
}

function ofNodes(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : silent;
  if (subresource !== '') return silent;
  if (verb === 'create' || verb === 'update' || verb === 'patch') return allowed;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return silent;
  if (name === node) return allowed;
  if (name === '') return no(`node '${node}' cannot read all nodes, only its own Node object`);
  return no(`node '${node}' cannot read '${name}', only its own Node object`);
}

const ownVerbs: readonly string[] = ['get', 'create', 'update', 'patch', 'delete'];

function ofLeases(node: string, { verb, namespace, name }: ResourceAttributes): Decision {
  if (!ownVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a node lease');
  if (namespace !== leaseNamespace) return no(`can only access leases in the "${leaseNamespace}" system namespace`);
  if (verb !== 'create' && name !== node) {
    return no('can only access node lease with the same name as the requesting node');
  }
  return allowed;
}

function ofCsiNodes(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (!ownVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return no('cannot authorize CSINode subresources');
  if (verb !== 'create' && name !== node) {
    return no('can only access CSINode with the same name as the requesting node');
  }
  return allowed;
}

/** `spec.nodeName=a` and `spec.nodeName==a` */
function isNodeTerm(term: string, node: string): boolean {
  return term === `spec.nodeName=${node}` || term === `spec.nodeName==${node}`;
}

/** Those of the ClusterRole system:node, as every cluster has it at first: who changes the role changes nothing here. */
async function nodeRules(): Promise<readonly PolicyRule[]> {
  const { bootstrapObjects } = await import('./bootstrap-roles.js');
  const role = bootstrapObjects().clusterRoles.find(({ metadata }) => metadata.name === 'system:node');
  return parseRules(role?.rules);
}
