import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyMergePatch } from '../patch/merge-patch.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { isStatusError, StatusError } from '../status-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { deepFreeze } from '../value/deep-freeze.js';
import { isRecord, type JsonRecord } from '../value/record.js';
import { type ApplyOptions, applyPatch } from './apply-patch.js';
import { builtInTypes } from './built-in-types.js';
import { typesOfResource } from './schema-types.js';
import { trackUpdate } from './track-update.js';

/** One object on a server that neither defaults nor validates. Expected results are those of kube-apiserver 1.36. */
class Server {
  object: JsonRecord | undefined;
  #seconds = 0;

  constructor(
    readonly apiVersion: string,
    readonly kind: string,
    readonly types: ApplyOptions['types'] = builtInTypes,
  ) {}

  apply(manager: string, body: JsonRecord, more: Partial<ApplyOptions> = {}): JsonRecord {
    const applied = { apiVersion: this.apiVersion, kind: this.kind, metadata: { name: 'a' }, ...body };
    this.object = deepFreeze(applyPatch(this.object, deepFreeze(applied), { ...this.#options(manager), ...more }));
    return this.object;
  }

  patch(manager: string, patch: JsonRecord, more: Partial<ApplyOptions> = {}): JsonRecord {
    const start = this.object ?? { apiVersion: this.apiVersion, kind: this.kind, metadata: { name: 'a' } };
    const patched = applyMergePatch(start, patch);
    assert.ok(isRecord(patched));
    this.object = deepFreeze(trackUpdate(this.object, patched, { ...this.#options(manager), ...more }));
    return this.object;
  }

  /** The owners of fields: `manager` or `manager/subresource` → fieldsV1. */
  get owners(): unknown {
    return Object.fromEntries(
      this.entries.map((entry) => [
        entry.subresource ? `${entry.manager}/${entry.subresource}` : entry.manager,
        entry.fieldsV1,
      ]),
    );
  }

  get entries(): { manager: string; operation: string; time?: string; subresource?: string; fieldsV1: unknown }[] {
    return JSON.parse(JSON.stringify(this.object?.metadata ?? {})).managedFields ?? [];
  }

  #options(manager: string): ApplyOptions {
    this.#seconds += 1;
    return { manager, types: this.types, now: new Date(this.#seconds * 1000).toISOString().replace('.000Z', 'Z') };
  }
}

function refusal(act: () => unknown): StatusError {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return error;
  }
  throw new Error('nothing was refused');
}

test('a value that two managers apply is shared, another value is a conflict, force takes it', () => {
  const server = new Server('v1', 'ConfigMap');
  server.apply('one', { data: { k: '1', l: '1' } });
  server.apply('two', { data: { k: '1' } });
  assert.deepEqual(server.owners, { one: { 'f:data': { 'f:k': {}, 'f:l': {} } }, two: { 'f:data': { 'f:k': {} } } });
  assert.equal(server.entries.find((entry) => entry.manager === 'two')?.time, undefined);

  const one = refusal(() => server.apply('two', { data: { k: '2' } }));
  assert.equal(one.message, 'Apply failed with 1 conflict: conflict with "one": .data.k');
  assert.deepEqual(one.status.details?.causes, [
    { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.k' },
  ]);
  const three = refusal(() => server.apply('three', { data: { k: '3', l: '3' } }));
  assert.ok(isStatusError(three, 'Conflict'));
  assert.equal(
    three.message,
    'Apply failed with 3 conflicts: conflicts with "one":\n- .data.k\n- .data.l\nconflicts with "two":\n- .data.k',
  );

  server.apply('two', { data: { k: '2' } }, { force: true });
  assert.deepEqual(server.object?.data, { k: '2', l: '1' });
  assert.deepEqual(server.owners, { one: { 'f:data': { 'f:l': {} } }, two: { 'f:data': { 'f:k': {} } } });
});

test('what is no longer applied goes, unless another manager has it', () => {
  const server = new Server('v1', 'ConfigMap');
  server.apply('one', { data: { k: '1', l: '1', m: '1' } });
  server.apply('two', { data: { l: '1' } });
  server.apply('one', { data: { m: '1' } });
  assert.deepEqual(server.object?.data, { l: '1', m: '1' });
  server.apply('one', { data: {} });
  assert.deepEqual(server.object?.data, { l: '1' });
  assert.deepEqual(server.owners, { one: { 'f:data': {} }, two: { 'f:data': { 'f:l': {} } } });
});

test('applying the same again gives back the same object', () => {
  const server = new Server('v1', 'ConfigMap');
  const first = server.apply('one', { data: { k: '1' } });
  assert.equal(server.apply('one', { data: { k: '1' } }), first);
});

test('containers, ports and environment of a pod are owned by their keys', () => {
  const server = new Server('v1', 'Pod');
  server.apply('one', {
    spec: {
      containers: [{ name: 'c', image: 'x:1', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] }],
    },
  });
  const port = 'k:{"containerPort":80,"protocol":"TCP"}';
  const ofOne = {
    'f:spec': {
      'f:containers': {
        'k:{"name":"c"}': {
          '.': {},
          'f:env': { 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
          'f:image': {},
          'f:name': {},
          'f:ports': { [port]: { '.': {}, 'f:containerPort': {} } },
        },
      },
    },
  };
  assert.deepEqual(server.owners, { one: ofOne });
  server.apply('two', {
    spec: {
      containers: [
        { name: 'c', env: [{ name: 'B', value: '2' }] },
        { name: 'side', image: 's:1' },
      ],
    },
  });
  assert.deepEqual(server.object?.spec, {
    containers: [
      {
        name: 'c',
        image: 'x:1',
        ports: [{ containerPort: 80 }],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
      { name: 'side', image: 's:1' },
    ],
  });
  server.apply('two', { spec: {} });
  assert.deepEqual(server.owners, { one: ofOne, two: { 'f:spec': {} } });
  assert.deepEqual(server.object?.spec, {
    containers: [{ name: 'c', image: 'x:1', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] }],
  });
});

test('finalizers are a set, owner references single values by uid, selectors one value', () => {
  const server = new Server('apps/v1', 'Deployment');
  server.apply('one', {
    metadata: {
      name: 'a',
      finalizers: ['example.com/a'],
      labels: { x: 'y' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }],
    },
    spec: { selector: { matchLabels: { app: 'a' } } },
  });
  assert.deepEqual(server.owners, {
    one: {
      'f:metadata': {
        'f:finalizers': { 'v:"example.com/a"': {} },
        'f:labels': { 'f:x': {} },
        'f:ownerReferences': { 'k:{"uid":"u"}': {} },
      },
      'f:spec': { 'f:selector': {} },
    },
  });
  server.apply('two', { metadata: { name: 'a', finalizers: ['example.com/b'] } });
  server.apply('one', {});
  assert.deepEqual(server.object?.metadata, {
    name: 'a',
    finalizers: ['example.com/b'],
    managedFields: server.entries,
  });
});

const widget: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, v: { type: 'integer' } },
          },
        },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        plain: { type: 'array', items: { type: 'string' } },
        whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

test('a custom resource is owned as its schema says', () => {
  const server = new Server('example.com/v1', 'Widget', typesOfResource(widget));
  server.apply('one', {
    spec: { items: [{ name: 'x', v: 1 }], tags: ['a'], plain: ['p'], whole: { k: 'v' }, free: { deep: { er: [1] } } },
  });
  assert.deepEqual(server.owners, {
    one: {
      'f:spec': {
        'f:free': { 'f:deep': { '.': {}, 'f:er': {} } },
        'f:items': { 'k:{"name":"x"}': { '.': {}, 'f:name': {}, 'f:v': {} } },
        'f:plain': {},
        'f:tags': { 'v:"a"': {} },
        'f:whole': {},
      },
    },
  });
  server.apply('two', { spec: { items: [{ name: 'y', v: 2 }], tags: ['b'] } });
  const conflict = refusal(() =>
    server.apply('two', { spec: { items: [{ name: 'x', v: 9 }], plain: ['q'], whole: { k: 'w' } } }),
  );
  assert.equal(
    conflict.message,
    'Apply failed with 3 conflicts: conflicts with "one":\n- .spec.plain\n- .spec.whole\n- .spec.items[name="x"].v',
  );
  server.apply('one', {});
  assert.deepEqual(server.object?.spec, { items: [{ name: 'y', v: 2 }], tags: ['b'] });
});

test('what does not fit the schema is refused in the words of kube-apiserver', () => {
  const server = new Server('example.com/v1', 'Widget', typesOfResource(widget));
  const examples: readonly (readonly [unknown, string])[] = [
    [{ items: [{ name: 'x' }, { name: 'x' }] }, '.spec.items: duplicate entries for key [name="x"]'],
    [{ nosuch: 1 }, '.spec.nosuch: field not declared in schema'],
    [{ tags: [true] }, '.spec.tags[=true]: expected string, got &value.valueUnstructured{Value:true}'],
    [
      { items: [{ v: 1 }] },
      '.spec.items: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
    ],
  ];
  for (const [spec, message] of examples) {
    const error = refusal(() => server.apply('one', { spec }));
    assert.equal(error.code, 500);
    assert.equal(error.message, `failed to create typed patch object (/a; example.com/v1, Kind=Widget): ${message}`);
  }
  const error = refusal(() => server.apply('one', { metadata: { name: 'a', managedFields: [] } }));
  assert.equal(error.message, 'metadata.managedFields must be nil');
});

test('an update takes what it changes, and an update that changes nothing owns nothing', () => {
  const server = new Server('v1', 'ConfigMap');
  server.apply('one', { data: { k: '1', l: '1' } });
  const before = server.object;
  assert.ok(deepEqual(server.patch('x', { data: { k: '1' } }), before));
  server.patch('x', { data: { k: '2', l: null } });
  assert.deepEqual(server.owners, { x: { 'f:data': { 'f:k': {} } } });
  assert.equal(
    refusal(() => server.apply('one', { data: { k: '1' } })).message,
    'Apply failed with 1 conflict: conflict with "x" using v1: .data.k',
  );
});

test('a manager of a subresource is another manager, and a resource does not write its status', () => {
  const server = new Server('apps/v1', 'Deployment');
  server.apply('one', { spec: { replicas: 1 }, status: { replicas: 5 } }, { ignoredFields: [['status']] });
  assert.equal(server.object?.status, undefined);
  server.apply('ctl', { status: { replicas: 2 } }, { subresource: 'status', ignoredFields: [['spec']] });
  server.apply('one', { spec: { replicas: 1 }, status: { replicas: 5 } }, { ignoredFields: [['status']] });
  assert.deepEqual(server.object?.status, { replicas: 2 });
  server.patch('upd', { status: { replicas: 3 } }, { subresource: 'status', ignoredFields: [['spec']] });
  assert.deepEqual(server.owners, {
    one: { 'f:spec': { 'f:replicas': {} } },
    'upd/status': { 'f:status': { 'f:replicas': {} } },
  });
});

test('the oldest of more than ten managers of updates become one', () => {
  const server = new Server('v1', 'ConfigMap');
  for (let index = 0; index < 12; index += 1) server.patch(`m${index}`, { data: { [`k${index}`]: '1' } });
  assert.equal(server.entries.length, 10);
  const [ancient] = server.entries;
  assert.equal(ancient?.manager, 'ancient-changes');
  assert.deepEqual(ancient?.fieldsV1, { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} } });
});

test('an object that nobody managed belongs to before-first-apply', () => {
  const server = new Server('v1', 'ConfigMap');
  server.object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u' }, data: { k: '1' } };
  const error = refusal(() => server.apply('one', { data: { k: '2' } }));
  assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.k');
  server.apply('one', { data: { l: '1' } });
  assert.deepEqual(server.owners, {
    'before-first-apply': { 'f:data': { '.': {}, 'f:k': {} } },
    one: { 'f:data': { 'f:l': {} } },
  });
});

test('managed fields of one empty entry clear all managers', () => {
  const server = new Server('v1', 'ConfigMap');
  server.apply('one', { data: { k: '1' } });
  server.patch('x', { metadata: { managedFields: [{}] } });
  assert.deepEqual(server.entries, []);
  assert.deepEqual(server.object?.data, { k: '1' });
});

test('an item that is new comes after those before it, and shared items take the applied order', () => {
  const server = new Server('example.com/v1', 'Widget', typesOfResource(widget));
  server.apply('one', { spec: { tags: ['a', 'b', 'c'] } });
  server.apply('two', { spec: { tags: ['n', 'b'] } });
  assert.deepEqual(server.object?.spec, { tags: ['a', 'n', 'b', 'c'] });
  server.apply('one', { spec: { tags: ['c', 'b', 'a'] } });
  assert.deepEqual(server.object?.spec, { tags: ['n', 'c', 'b', 'a'] });
});

const tag = fc.constantFrom('a', 'b', 'c');
const spec = fc.record(
  {
    items: fc.uniqueArray(fc.record({ name: tag, v: fc.nat(2) }, { noNullPrototype: true }), {
      selector: (item) => item.name,
    }),
    tags: fc.uniqueArray(tag),
    whole: fc.dictionary(tag, tag, { noNullPrototype: true }),
    free: fc.dictionary(tag, fc.jsonValue(), { noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

test('applying twice is as applying once, and letting go of all leaves what others have', () => {
  fc.assert(
    fc.property(spec, spec, (mine, theirs) => {
      const server = new Server('example.com/v1', 'Widget', typesOfResource(widget));
      server.apply('theirs', { spec: theirs });
      const alone = server.object?.spec;
      const once = server.apply('mine', { spec: mine }, { force: true });
      assert.equal(server.apply('mine', { spec: mine }, { force: true }), once);
      // What was taken by force is gone with us; where nothing was, theirs is as it was.
      if (!server.entries.some((entry) => entry.manager === 'theirs')) return;
      server.apply('theirs', { spec: theirs }, { force: true });
      server.apply('mine', {});
      server.apply('theirs', { spec: theirs }, { force: true });
      assert.ok(sameButForOrder(server.object?.spec, alone), JSON.stringify([server.object?.spec, alone]));
    }),
  );
});

function sameButForOrder(a: unknown, b: unknown): boolean {
  const sorted = (value: unknown) =>
    JSON.parse(JSON.stringify(value ?? null), (_, each) =>
      Array.isArray(each) ? each.toSorted((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1)) : each,
    );
  return deepEqual(sorted(a), sorted(b));
}
