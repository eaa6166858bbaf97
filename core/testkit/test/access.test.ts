import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Client, connect, loadKubeconfig } from '@castellan/client';
import { configMaps, type KubernetesObject, pods, type ResourceType, secrets, services } from '@castellan/machinery';
import { clusterRole, missingRights, type Operator, requiredRules, watchSource } from '@castellan/runtime';
import { type BootedPlane, bootPlane } from '../src/index.js';

const settle = { reconcile: async () => undefined };
const operator: Operator = {
  name: 'sample',
  customResourceDefinitions: [{ metadata: { name: 'flowers.example.com' } }],
  controllers: [
    {
      name: 'sample',
      for: configMaps,
      owns: [pods],
      watches: [watchSource({ type: secrets, map: () => [] })],
      writes: [{ type: services, subresource: 'status', verbs: ['patch'] }],
      ...settle,
    },
  ],
};

let plane: BootedPlane;
before(async () => {
  plane = await bootPlane();
});
after(() => plane.stop());

test('the rights of an operator follow from what it watches, owns and says that it writes', () => {
  assert.deepEqual(
    requiredRules(operator, { leaderElection: { name: 'sample' } }).map(({ apiGroups, resources, verbs, ...names }) => [
      `${apiGroups}/${resources}`,
      verbs.join(' '),
      ...Object.values(names),
    ]),
    [
      ['/configmaps', 'get list patch watch'],
      ['/configmaps/finalizers', 'update'],
      ['/configmaps/status', 'patch update'],
      ['apiextensions.k8s.io/customresourcedefinitions', 'create'],
      ['apiextensions.k8s.io/customresourcedefinitions', 'get patch', ['flowers.example.com']],
      ['events.k8s.io/events', 'create patch'],
      ['coordination.k8s.io/leases', 'create'],
      ['coordination.k8s.io/leases', 'get update', ['sample']],
      ['/pods', 'create delete get list patch update watch'],
      ['/secrets', 'get list watch'],
      ['/services/status', 'patch'],
    ],
  );
  const { rules } = clusterRole('sample', requiredRules(operator, { installsKinds: false }));
  assert.ok(!rules.some(({ resources }) => resources.includes('customresourcedefinitions')));
});

const clusterRoleBindings: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  isNamespaced: false,
};
const roleBindings: ResourceType = {
  ...clusterRoleBindings,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  isNamespaced: true,
};
const clusterRoles: ResourceType = { ...clusterRoleBindings, kind: 'ClusterRole', plural: 'clusterroles' };

/** A client of a service account that has, by a binding of its own, a role with these rules; in one namespace or in all. */
async function clientWith(name: string, rules: readonly object[], namespace?: string): Promise<Client> {
  const { client } = plane;
  const key = { namespace: 'default', name };
  const role: KubernetesObject & { rules: unknown } = { metadata: { name }, rules };
  await client.create(clusterRoles, role);
  const binding: KubernetesObject & { roleRef: unknown; subjects: unknown } = {
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', ...key }],
  };
  await client.create(namespace === undefined ? clusterRoleBindings : roleBindings, binding);
  interface TokenRequest extends KubernetesObject {
    readonly spec?: unknown;
    readonly status?: { readonly token: string };
  }
  const serviceAccounts: ResourceType<TokenRequest> = {
    group: '',
    version: 'v1',
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    isNamespaced: true,
  };
  await client.create(serviceAccounts, { metadata: key });
  const tokenRequest: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: key,
    spec: {},
  };
  const made = await client.create(serviceAccounts, tokenRequest, { subresource: 'token' });
  const { server, caCertificate } = await loadKubeconfig(plane.kubeconfigPath);
  return connect({ server, ...(caCertificate !== undefined && { caCertificate }), token: made.status?.token ?? '' });
}

test('with a role of those rules nothing is missing; without one of them it is named, with the rule to add', async (t) => {
  const rules = requiredRules(operator);
  const full = await clientWith('full', rules);
  t.after(() => full.close());
  assert.deepEqual(await missingRights(full, rules), []);
  const without = rules.filter(({ resources }) => !resources.includes('secrets'));
  const lacking = await clientWith('lacking', without);
  t.after(() => lacking.close());
  const missing = await missingRights(lacking, rules);
  assert.deepEqual(
    missing.map(({ what }) => what),
    ['get secrets', 'list secrets', 'watch secrets'],
  );
  assert.deepEqual(missing[0]?.rule, { apiGroups: [''], resources: ['secrets'], verbs: ['get'] });
});

test('a right in one namespace is no right in all of them', async (t) => {
  const rules = requiredRules(operator, { installsKinds: false });
  const local = await clientWith('local', rules, 'default');
  t.after(() => local.close());
  assert.deepEqual(await missingRights(local, rules, { namespace: 'default' }), []);
  const everywhere = (await missingRights(local, rules)).map(({ what }) => what);
  assert.ok(everywhere.includes('list pods') && everywhere.includes('create events.events.k8s.io'), `${everywhere}`);
});
