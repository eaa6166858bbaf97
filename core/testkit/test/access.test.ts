import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type Client, connect, loadKubeconfig } from '@castellan/client';
import {
  configMaps,
  defineKind,
  type KubernetesObject,
  pods,
  type ResourceType,
  s,
  secrets,
  services,
} from '@castellan/machinery';
import {
  clusterRole,
  managerMetrics,
  missingRights,
  type Operator,
  requiredRules,
  runOperator,
  type WebhookReach,
  watchSource,
  webhook,
} from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { type BootedPlane, bootPlane, eventually } from '../src/index.js';

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

const Pot = defineKind({
  group: 'access.castellan.dev',
  version: 'v1',
  kind: 'Pot',
  spec: s.object({ size: s.integer() }),
}).withVersion('v1alpha1', {
  spec: s.object({ count: s.integer() }),
  toHub: ({ spec }) => ({ spec: { size: spec.count } }),
  fromHub: ({ spec }) => ({ spec: { count: spec.size } }),
});

const judge: Operator = {
  name: 'judge',
  customResourceDefinitions: [Pot.crd],
  controllers: [{ name: 'judge', for: Pot, ...settle }],
  webhooks: [webhook(Pot, { validate: ({ spec }) => (spec.size > 9 ? { refusal: 'too large' } : undefined) })],
  convertedKinds: [Pot],
};
const leaderElection = { name: 'judge', namespace: 'default', identity: 'judge-1' };
const reach: WebhookReach = { endpoint: { host: '127.0.0.1' }, port: 0 };

test('webhooks need their Secret, their configurations and the definitions that they convert, by name; with mounted certificates nothing', () => {
  const of = (options: Parameters<typeof requiredRules>[1]) =>
    requiredRules(judge, options)
      .filter(({ resources }) => /secrets|webhook|definitions/.test(`${resources}`))
      .map(({ resources, verbs, resourceNames = [] }) => [resources.join(), verbs.join(' '), ...resourceNames]);
  assert.deepEqual(of({ installsKinds: false }), [
    ['customresourcedefinitions', 'get patch', 'pots.access.castellan.dev'],
    ['mutatingwebhookconfigurations', 'create'],
    ['mutatingwebhookconfigurations', 'get patch', 'judge'],
    ['secrets', 'create'],
    ['secrets', 'get update', 'judge-webhooks'],
    ['validatingwebhookconfigurations', 'create'],
    ['validatingwebhookconfigurations', 'get patch', 'judge'],
  ]);
  const certificates = { certificatePath: 'tls.crt', keyPath: 'tls.key' };
  assert.deepEqual(of({ installsKinds: false, webhooks: { certificates } }), []);
});

test('runOperator needs no more than those rules for its webhooks, is ready when they are answered, and counts them', async (t) => {
  const client = await clientWith('judge', requiredRules(judge, { leaderElection, webhooks: reach }));
  const directory = await mkdtemp(join(tmpdir(), 'castellan-access-'));
  const path = join(directory, 'manager.sock');
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const stop = new AbortController();
  const ended = runOperator(
    {
      operator: judge,
      client,
      world: realWorld(),
      log: { debug: () => {}, info: () => {}, warn: note, error: note },
      leaderElection,
      webhooks: reach,
      metrics: managerMetrics(),
      listen: { path },
    },
    stop.signal,
  );
  t.after(async () => {
    stop.abort(new Error('the test has ended'));
    await ended;
    await client.close();
    await rm(directory, { recursive: true });
  });
  const read = (place: string) =>
    new Promise<string>((resolve, reject) => {
      const asked = request({ socketPath: path, path: place, agent: false }, (reply) => {
        text(reply).then(resolve, reject);
      });
      asked.on('error', reject);
      asked.end();
    });
  await Promise.race([
    ended,
    eventually('the webhooks to be ready', async () => (await read('/readyz/webhooks')) === 'ok', {
      deadlineMs: 20_000,
    }),
  ]);
  const large = Pot.make({ name: 'large', namespace: 'default' }, { size: 10 });
  await eventually(
    'a large pot to be refused',
    () =>
      plane.client.create(Pot, large, { dryRun: true }).then(
        () => false,
        ({ message }: Error) => message.endsWith('denied the request: too large'),
      ),
    { deadlineMs: 20_000 },
  );
  const counted =
    'controller_runtime_webhook_requests_total{webhook="/validate/pots.access.castellan.dev/v1",code="200"}';
  assert.match((await read('/metrics')).split(counted)[1] ?? '', /^ [1-9]/);
  assert.deepEqual(
    lines.filter((line) => /may not|forbidden/i.test(line)),
    [],
  );
});
