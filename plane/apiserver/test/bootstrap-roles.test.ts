import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { memoryKeyspace } from '@castellan/keyspace';
import { realWorld } from '@castellan/world';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const merge = { 'content-type': 'application/merge-patch+json' };
const servers: ServerUnderTest[] = [];

after(() => Promise.all(servers.map((server) => server.stop())));

async function get(server: ServerUnderTest, path: string) {
  const { json, status, text } = await server.send('GET', `${rbac}/${path}`);
  assert.equal(status, 200, text);
  return json;
}

test('what the roles of every cluster have lost is put back at the next start, what was added to them stays', async () => {
  const keyspace = memoryKeyspace(realWorld());
  const first = await startServer({ keyspace });
  servers.push(first);
  const basic = 'clusterroles/system:basic-user';
  const whole = await get(first, basic);
  const own = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
  const change = (path: string, body: unknown) => first.send('PATCH', `${rbac}/${path}`, body, merge);
  await change(basic, { rules: [own], metadata: { labels: { mine: 'x', 'kubernetes.io/bootstrapping': null } } });
  const leftAlone = { metadata: { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } } };
  await change('clusterroles/system:discovery', { ...leftAlone, rules: [] });
  await change('clusterrolebindings/cluster-admin', { subjects: [{ kind: 'User', name: 'eve' }] });
  await first.send('DELETE', `${rbac}/clusterroles/system:monitoring`);
  const wrong = { metadata: { name: 'system:volume-scheduler' }, roleRef: { kind: 'ClusterRole', name: 'view' } };
  await first.send('DELETE', `${rbac}/clusterrolebindings/system:volume-scheduler`);
  const replaced = await first.send('POST', `${rbac}/clusterrolebindings`, wrong);
  assert.equal(replaced.status, 201, replaced.text);

  const second = await startServer({ keyspace });
  servers.push(second);
  const { rules, metadata } = await get(second, basic);
  assert.deepEqual(rules, [own, ...whole.rules]);
  assert.deepEqual(metadata.labels, { mine: 'x', 'kubernetes.io/bootstrapping': 'rbac-defaults' });
  assert.deepEqual((await get(second, 'clusterroles/system:discovery')).rules ?? [], []);
  const { subjects } = await get(second, 'clusterrolebindings/cluster-admin');
  assert.deepEqual(
    subjects.map(({ name }: { name: string }) => name),
    ['eve', 'system:masters'],
  );
  assert.ok((await get(second, 'clusterroles/system:monitoring')).rules.length > 0);
  const { roleRef } = await get(second, 'clusterrolebindings/system:volume-scheduler');
  assert.equal(roleRef.name, 'system:volume-scheduler');
});

test('a start that finds everything as it should be writes nothing', async () => {
  const keyspace = memoryKeyspace(realWorld());
  const first = await startServer({ keyspace });
  servers.push(first);
  const versions = async (server: ServerUnderTest) => {
    const lists = await Promise.all(
      ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map((plural) => get(server, plural)),
    );
    return lists.flatMap(({ items }) =>
      items.map((item: { metadata: { name: string; resourceVersion: string } }) => [
        item.metadata.name,
        item.metadata.resourceVersion,
      ]),
    );
  };
  const before = await versions(first);
  assert.ok(before.length > 130, `${before.length} roles and bindings`);
  const second = await startServer({ keyspace });
  servers.push(second);
  assert.deepEqual(await versions(second), before);
});
