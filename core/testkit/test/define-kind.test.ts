import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import {
  customResourceDefinitions,
  defineKind,
  formatFieldError,
  invalidError,
  isConditionTrue,
  keyOf,
  type ResourceType,
  resourcePath,
  StatusError,
  s,
  type WriteOf,
} from '@castellan/machinery';
import { bootPlane, eventually } from '@castellan/testkit';

const Widget = defineKind({
  group: 'test.castellan.dev',
  version: 'v1',
  kind: 'Widget',
  shortNames: ['wd'],
  description: 'One of everything.',
  spec: s.object({
    size: s.integer().min(1).max(9).default(3),
    colour: s.enumeration(['red', 'blue']).default('red'),
    zone: s.string().maxLength(63).immutable().optional(),
    ports: s
      .array(s.object({ name: s.string(), port: s.intOrString(), protocol: s.string().default('TCP') }))
      .by('name')
      .maxItems(5)
      .optional(),
    hosts: s.array(s.string().maxLength(63)).set().optional(),
    memory: s.quantity().optional(),
    every: s.duration().optional(),
    selector: s.labelSelector().optional(),
    template: s.embeddedResource().optional(),
    affinity: s.anyFields<{ readonly nodeAffinity?: unknown }>().optional(),
    limits: s.map(s.integer().above(0)).optional(),
    source: s
      .union('type', { Disk: { path: s.string().maxLength(100) }, Memory: { megabytes: s.integer() } })
      .optional(),
    backup: s.object({ keep: s.integer().default(7) }).default({}),
  }),
  status: s.object({ ready: s.integer() }),
  columns: [
    { name: 'Size', jsonPath: '.spec.size' },
    { name: 'Keep', jsonPath: '.spec.backup.keep', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp' },
  ],
  scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.ready' },
  selectableFields: ['.spec.colour'],
});

/** As a program does that knows nothing of the schema. */
const untyped: ResourceType = Widget;
const objectOf = (name: string, spec: unknown) => ({
  apiVersion: 'test.castellan.dev/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'default' },
  spec,
});

test('a defined kind is served by an API server just as its own functions say', async (t) => {
  const plane = await bootPlane({ controllers: false });
  t.after(() => plane.stop());
  const { client } = plane;
  await Widget.check();
  await client.create(customResourceDefinitions, Widget.crd);
  const served = await eventually(
    'the definition is established',
    async () => {
      const crd = await client.get(customResourceDefinitions, keyOf(Widget.crd));
      return isConditionTrue(crd.status?.conditions, 'Established') && crd;
    },
    { deadlineMs: 30_000 },
  );

  await t.test('the definition is taken as it is', () => {
    assert.deepEqual(served.spec.versions, Widget.crd.spec.versions);
    assert.deepEqual(served.spec.names, Widget.crd.spec.names);
  });

  await t.test('defaults are the same', async () => {
    const specs: readonly WriteOf<typeof Widget>['spec'][] = [
      {},
      { size: 5, ports: [{ name: 'a', port: 'http' }], backup: { keep: 1 } },
      { zone: 'b', limits: { a: 1 }, source: { type: 'Disk', path: '/x' }, every: '1h' },
    ];
    for (const [index, spec] of specs.entries()) {
      const object = objectOf(`defaults-${index}`, spec);
      const created = await client.create(untyped, object);
      assert.deepEqual({ ...created, metadata: object.metadata }, Widget.make(object.metadata, spec));
    }
  });

  await t.test('what is unknown is dropped alike', async () => {
    const object = objectOf('unknown', {
      size: 2,
      odd: 1,
      template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', odd: 1 }, kept: 1 },
    });
    const created = await client.create(untyped, object);
    assert.deepEqual({ ...created, metadata: object.metadata }, await Widget.parse(object));
  });

  await t.test('refusals are the same, word for word', async () => {
    const specs: readonly unknown[] = [
      { size: 10 },
      { size: 'three', colour: 'green' },
      { colour: 'green', ports: [{ name: 'a', port: 1.5 }, { name: 'a', port: 1 }, { port: 2 }] },
      { hosts: ['a', 'b', 'a'] },
      { memory: '5 GB', every: 'soon', limits: { a: 0 } },
      { selector: { matchExpressions: [{ key: 'a' }] } },
      { template: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'a b': 'c' } } } },
      { source: { type: 'Disk', megabytes: 1 } },
      { source: { path: '/x' } },
      { source: null, backup: { keep: 'x' } },
      [],
    ];
    for (const spec of specs) {
      const object = objectOf('refused', spec);
      const ours = await messageOf(Widget.parse(object));
      assert.notEqual(ours, 'no error');
      assert.equal(ours, await messageOf(client.create(untyped, object)), JSON.stringify(spec));
    }
  });

  await t.test('refused updates are the same, word for word', async () => {
    const before = await client.create(Widget, Widget.make({ name: 'moved', namespace: 'default' }, { zone: 'a' }));
    const after = { ...before, spec: { ...before.spec, zone: 'b', size: 0 } };
    const errors = await Widget.validate(after, before);
    assert.deepEqual(errors.map(formatFieldError), [
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      'spec.zone: Invalid value: "b": field is immutable',
    ]);
    assert.equal(invalidError(Widget, 'moved', errors).message, await messageOf(client.update(Widget, after)));
  });

  await t.test('columns, scale and field selectors are there', async () => {
    const get = async (path: string, accept = 'application/json'): Promise<unknown> => {
      const reply = await client.request({ method: 'GET', path, headers: { accept } });
      return JSON.parse(await text(reply.body));
    };
    const path = resourcePath(Widget, { namespace: 'default' });
    const { columnDefinitions, rows } = tableOf(await get(path, 'application/json;as=Table;v=v1;g=meta.k8s.io'));
    assert.deepEqual(
      columnDefinitions.map(({ name, type, priority }) => [name, type, priority]),
      [
        ['Name', 'string', 0],
        ['Size', 'integer', 0],
        ['Keep', 'integer', 1],
        ['Age', 'date', 0],
      ],
    );
    assert.deepEqual(rows.find(({ cells }) => cells[0] === 'moved')?.cells.slice(0, 3), ['moved', 3, 7]);
    const scale = resourcePath(Widget, { namespace: 'default', name: 'moved', subresource: 'scale' });
    assert.deepEqual(replicasOf(await get(scale)), { replicas: 3 });
    const blue = await client.list(Widget, { namespace: 'default', fieldSelector: 'spec.colour=blue' });
    assert.deepEqual(blue.items, []);
  });
});

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

function tableOf(body: unknown): Table {
  return body as Table;
}

function replicasOf(scale: unknown): unknown {
  return (scale as { readonly spec: unknown }).spec;
}

async function messageOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'no error';
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return error.message;
  }
}
