import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const table = async (path: string) => (await api.send('GET', path, undefined, asTable)).json;

interface Definition {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

interface Resource {
  readonly name: string;
  readonly verbs: readonly string[];
}

/** Upstream has no words for these: it looks for them in the wrong place, or they are flows', which we keep as they are. */
const wordless = ['runtimeclasses Handler', 'flowschemas', 'prioritylevelconfigurations'];

test('every column of a built-in kind says what it shows', async () => {
  const { groups } = (await api.send('GET', '/apis')).json;
  const roots: string[] = [
    '/api/v1',
    ...groups.map(
      (group: { preferredVersion: { groupVersion: string } }) => `/apis/${group.preferredVersion.groupVersion}`,
    ),
  ];
  const silent: string[] = [];
  for (const root of roots) {
    const { resources } = (await api.send('GET', root)).json;
    for (const { name, verbs } of resources as readonly Resource[]) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      for (const column of (await table(`${root}/${name}`)).columnDefinitions as readonly Definition[]) {
        const title = `${name} ${column.name}`;
        if (column.description === '' && !wordless.some((known) => title.startsWith(known))) silent.push(title);
      }
    }
  }
  assert.deepEqual(silent, []);
});

test('what a Deployment has of pods is called a string, as upstream calls it, and is a number', async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await api.send('POST', path, { metadata: { name: 'a' }, spec: { selector: { matchLabels: { a: 'b' } }, template } });
  const { columnDefinitions, rows } = await table(path);
  assert.deepEqual([columnDefinitions[2].name, columnDefinitions[2].type], ['Up-to-date', 'string']);
  assert.equal(rows[0].cells[2], 0);
});

test('a selector is shown in the order of its keys', async () => {
  const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
  const podSelector = {
    matchLabels: { x: 'y', b: 'c' },
    matchExpressions: [{ key: 'a', operator: 'In', values: ['2', '1'] }],
  };
  await api.send('POST', path, { metadata: { name: 'a' }, spec: { podSelector } });
  assert.equal((await table(path)).rows[0].cells[1], 'a in (1,2),b=c,x=y');
});

test('a claim on devices is pending until it is allocated', async () => {
  const path = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
  await api.send('POST', path, { metadata: { name: 'a' }, spec: {} });
  assert.equal((await table(path)).rows[0].cells[1], 'pending');
});
