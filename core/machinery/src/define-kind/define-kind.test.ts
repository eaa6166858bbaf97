import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../kinds/condition.js';
import { isStatusError } from '../status-error.js';
import { formatFieldError } from '../validation/field-error.js';
import { deepFreeze } from '../value/deep-freeze.js';
import { defineKind } from './define-kind.js';
import { KindDefinitionError } from './definition-errors.js';
import type { ReadOf, WriteOf } from './kind.js';
import type { AnySchema } from './schema-builder.js';
import { s } from './schema-builders.js';

const Memcached = defineKind({
  group: 'cache.example.com',
  version: 'v1',
  kind: 'Memcached',
  shortNames: ['mc'],
  description: 'A cache.',
  spec: s.object({
    size: s.integer().min(1).max(9).default(3).describe('How many.'),
    image: s.string().pattern('^[a-z/:.0-9]+$'),
    ports: s
      .array(s.object({ name: s.string(), port: s.intOrString() }))
      .by('name')
      .optional(),
    memory: s.quantity().default('64Mi'),
    zone: s.string().immutable().optional(),
  }),
  status: s.object({ ready: s.integer() }),
  columns: [
    { name: 'Size', jsonPath: '.spec.size' },
    { name: 'Image', jsonPath: '.spec.image', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp' },
  ],
  scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.ready' },
  selectableFields: ['.spec.image'],
});

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only where the two types are the same. */
function assertSame<A, B>(_same: Same<A, B>): void {}

test('types: a defaulted field is there to who reads and may be left out by who writes', () => {
  type Read = ReadOf<typeof Memcached>;
  type Write = WriteOf<typeof Memcached>;
  assertSame<Read['spec']['size'], number>(true);
  assertSame<Write['spec']['size'], number | undefined>(true);
  assertSame<Read['spec']['image'], string>(true);
  assertSame<Read['spec']['zone'], string | undefined>(true);
  assertSame<Read['spec']['memory'], number | string>(true);
  assertSame<NonNullable<Read['status']>['ready'], number>(true);
  assertSame<NonNullable<Read['status']>['conditions'], readonly Condition[] | undefined>(true);
  const read: Read = Memcached.make({ name: 'a' }, { image: 'x' });
  const grow = () => {
    // @ts-expect-error what is read is not changed
    read.spec.size = 4;
  };
  deepFreeze<unknown>(read);
  assert.throws(grow, TypeError);
  // @ts-expect-error the image is required
  Memcached.make({ name: 'a' }, { size: 3 });
  // @ts-expect-error no such field
  Memcached.make({ name: 'a' }, { image: 'x', colour: 'red' });
});

test('types: enumerations, literals, maps, null and unions are as narrow as their schemas', () => {
  const schema = s.object({
    phase: s.enumeration(['Creating', 'Running']),
    one: s.literal(1),
    labels: s.map(s.string()),
    maybe: s.boolean().nullable(),
    nested: s.object({ on: s.boolean().default(true) }).default({}),
    source: s.union('type', {
      Disk: { path: s.string() },
      Memory: { megabytes: s.integer(), huge: s.boolean().optional() },
    }),
  });
  type Read = ReadOf<typeof schema>;
  assertSame<Read['phase'], 'Creating' | 'Running'>(true);
  assertSame<Read['one'], 1>(true);
  assertSame<Read['labels'], Readonly<Record<string, string>>>(true);
  assertSame<Read['maybe'], boolean | null>(true);
  assertSame<Read['nested']['on'], boolean>(true);
  assertSame<WriteOf<typeof schema>['nested'], { readonly on?: boolean } | undefined>(true);
  const pathOf = (source: Read['source']) => (source.type === 'Disk' ? source.path : source.megabytes);
  assert.equal(pathOf({ type: 'Memory', megabytes: 5 }), 5);
  // @ts-expect-error a disk has no megabytes
  pathOf({ type: 'Disk', path: '/x', megabytes: 5 });
});

test('a kind is a resource type with its CustomResourceDefinition', () => {
  const { group, version, kind, plural, isNamespaced } = Memcached;
  assert.deepEqual(
    { group, version, kind, plural, isNamespaced },
    { group: 'cache.example.com', version: 'v1', kind: 'Memcached', plural: 'memcacheds', isNamespaced: true },
  );
  assert.equal(Object.isFrozen(Memcached.crd.spec.versions[0]?.schema?.openAPIV3Schema?.properties), true);
  assert.deepEqual(Memcached.crd.spec.names, {
    kind: 'Memcached',
    listKind: 'MemcachedList',
    plural: 'memcacheds',
    singular: 'memcached',
    shortNames: ['mc'],
  });
  const [stored] = Memcached.crd.spec.versions;
  assert.deepEqual(stored?.additionalPrinterColumns, [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Image', type: 'string', jsonPath: '.spec.image', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ]);
  assert.deepEqual(stored?.subresources, {
    status: {},
    scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.ready' },
  });
  assert.deepEqual(stored?.selectableFields, [{ jsonPath: '.spec.image' }]);
  const properties = stored?.schema?.openAPIV3Schema?.properties ?? {};
  assert.deepEqual(properties.spec?.required, ['image']);
  assert.deepEqual(properties.spec?.properties?.size, {
    type: 'integer',
    minimum: 1,
    maximum: 9,
    default: 3,
    description: 'How many.',
  });
  assert.deepEqual(Object.keys(properties.status?.properties ?? {}), ['ready', 'observedGeneration', 'conditions']);
});

test('plurals are regular unless told', () => {
  const pluralOf = (kind: string) =>
    defineKind({ group: 'example.com', version: 'v1', kind, spec: s.object({}) }).plural;
  assert.deepEqual(['Policy', 'Proxy', 'Switch', 'Gateway', 'Cluster'].map(pluralOf), [
    'policies',
    'proxies',
    'switches',
    'gateways',
    'clusters',
  ]);
});

test('make and applyDefaults fill in what is absent, and change nothing in place', () => {
  const made = Memcached.make({ name: 'a', namespace: 'b' }, { image: 'x' });
  assert.deepEqual(made, {
    apiVersion: 'cache.example.com/v1',
    kind: 'Memcached',
    metadata: { name: 'a', namespace: 'b' },
    spec: { image: 'x', size: 3, memory: '64Mi' },
  });
  const written = Object.freeze({ metadata: {}, spec: Object.freeze({ image: 'x', size: 5 }) });
  assert.deepEqual(Memcached.applyDefaults(written).spec, { image: 'x', size: 5, memory: '64Mi' });
});

test('validate says what is wrong in the words of the API server, rules in CEL included', async () => {
  const errorsOf = async (spec: unknown, old?: unknown) => {
    const object = { apiVersion: 'cache.example.com/v1', kind: 'Memcached', metadata: { name: 'a' }, spec };
    const before = old === undefined ? undefined : { ...object, spec: old };
    return (await Memcached.validate(object, before)).map(formatFieldError);
  };
  assert.deepEqual(await errorsOf({ image: 'x', size: 3 }), []);
  assert.deepEqual(await errorsOf({ image: 'X', size: 10, memory: '5 GB' }), [
    'spec.image: Invalid value: "X": spec.image in body should match \'^[a-z/:.0-9]+$\'',
    'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
    'spec.memory: Invalid value: "5 GB": spec.memory in body should match ' +
      "'^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'",
  ]);
  assert.deepEqual(await errorsOf({ image: 'x', zone: 'b' }, { image: 'x', zone: 'a' }), [
    'spec.zone: Invalid value: "b": field is immutable',
  ]);
});

test('parse drops unknown fields, applies defaults and throws what validate finds', async () => {
  const apiVersion = 'cache.example.com/v1';
  const parsed = await Memcached.parse({
    apiVersion,
    kind: 'Memcached',
    metadata: { name: 'a' },
    spec: { image: 'x', odd: 1 },
  });
  assert.deepEqual(parsed.spec, { image: 'x', size: 3, memory: '64Mi' });
  await assert.rejects(
    Memcached.parse({ apiVersion, kind: 'Memcached', metadata: { name: 'a' }, spec: {} }),
    (error) =>
      isStatusError(error, 'Invalid') &&
      error.message ===
        'Memcached.cache.example.com "a" is invalid: [spec.image: Required value, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
  );
  await assert.rejects(
    Memcached.parse({ apiVersion: 'v1', kind: 'Pod', metadata: {} }),
    (error) =>
      isStatusError(error, 'BadRequest') &&
      error.message === 'apiVersion is "v1", where "cache.example.com/v1" is wanted',
  );
  await assert.rejects(Memcached.parse('text'), (error) => isStatusError(error, 'BadRequest'));
});

test('a definition that an API server would refuse is refused when it is made, with the place of each mistake', () => {
  const problemsOf = (spec: AnySchema, more = {}) => {
    try {
      defineKind({ group: 'example.com', version: 'v1', kind: 'Widget', spec, ...more });
      return [];
    } catch (error) {
      assert.ok(error instanceof KindDefinitionError);
      return error.problems;
    }
  };
  assert.deepEqual(problemsOf(s.object({ size: s.integer().max(9).default(12) })), [
    'spec.size.default: Invalid value: 12:  in body should be less than or equal to 9',
  ]);
  assert.deepEqual(problemsOf(s.object({ name: s.string().pattern('(') })), [
    'spec.name.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
  ]);
  assert.deepEqual(problemsOf(s.object({ list: s.array(s.object({ name: s.string().optional() })).by('name') })), [
    'spec.list.items.name.default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
  ]);
  assert.deepEqual(
    problemsOf(s.object({}), { group: 'example', columns: [{ name: 'Size', jsonPath: '.spec.size' }] }),
    [
      'group: Invalid value: "example": should be a domain with at least one dot',
      'columns[Size].jsonPath: Invalid value: ".spec.size": the schema has no such field',
    ],
  );
});

test('check refuses rules in CEL that do not compile, with their place', async () => {
  const spec = s.object({ size: s.integer().rule('self > small') });
  // Where the engine of CEL is loaded already, the definition itself is refused.
  await assert.rejects(
    async () => defineKind({ group: 'example.com', version: 'v1', kind: 'Widget', spec }).check(),
    (error) =>
      error instanceof KindDefinitionError &&
      /^spec\.size\.x-kubernetes-validations\[0\]\.rule: Invalid value: .*undeclared reference to 'small'/s.test(
        error.problems[0] ?? '',
      ),
  );
});

test('of a union, the fields that do not go with the discriminator are refused by name', async () => {
  const Widget = defineKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    spec: s.object({
      source: s.union('type', {
        Disk: { path: s.string().maxLength(100) },
        Memory: { megabytes: s.integer() },
      }),
    }),
  });
  await Widget.check();
  const errorsOf = async (source: unknown) => {
    const errors = await Widget.validate({ metadata: { name: 'a' }, spec: { source } });
    return errors.map(formatFieldError);
  };
  assert.deepEqual(await errorsOf({ type: 'Disk', path: '/x' }), []);
  assert.deepEqual(await errorsOf({ type: 'Disk', megabytes: 4 }), [
    'spec.source: Invalid value: path is required when type is Disk',
    'spec.source: Invalid value: megabytes may be set only when type is Memory',
  ]);
  assert.throws(
    () => s.union('type', { A: { x: s.string() }, B: { x: s.integer() } }),
    /field "x" of type "B" has another schema than in an earlier variant/,
  );
  assert.throws(() => s.union('type', { A: { x: s.string().default('y') } }), /field "x" of type "A" has a default/);
});

test('objects are converted between versions through the version that is stored', () => {
  const Versioned = Memcached.withVersion('v1alpha1', {
    spec: s.object({ replicas: s.integer().default(1), image: s.string() }),
    deprecated: 'use cache.example.com/v1',
    toHub: ({ spec }) => ({ spec: { size: spec.replicas, image: spec.image } }),
    fromHub: ({ spec, metadata }) => ({
      spec: { replicas: spec.size, image: spec.image },
      metadata: { annotations: { ...metadata.annotations, memory: String(spec.memory) } },
    }),
  });
  assertSame<ReadOf<typeof Versioned.versions.v1alpha1>['spec']['replicas'], number>(true);
  assert.equal(Versioned.versions.v1alpha1.version, 'v1alpha1');
  assert.deepEqual(
    Versioned.crd.spec.versions.map(({ name, storage, deprecationWarning }) => [name, storage, deprecationWarning]),
    [
      ['v1', true, undefined],
      ['v1alpha1', false, 'use cache.example.com/v1'],
    ],
  );
  const old = {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    metadata: { name: 'a' },
    spec: { image: 'x' },
  };
  const stored = Versioned.convert(old, 'v1');
  assert.deepEqual(stored, {
    apiVersion: 'cache.example.com/v1',
    kind: 'Memcached',
    metadata: { name: 'a' },
    spec: { size: 1, image: 'x', memory: '64Mi' },
  });
  assert.deepEqual(Versioned.convert(stored, 'v1alpha1'), {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    metadata: { name: 'a', annotations: { memory: '64Mi' } },
    spec: { replicas: 1, image: 'x' },
  });
  assert.throws(() => Versioned.convert(old, 'v9'), {
    message:
      "cannot convert cache.example.com/v1alpha1 to cache.example.com/v9: the kind's versions are cache.example.com/v1, cache.example.com/v1alpha1",
  });
});

test('the reference page has a row for each field', () => {
  assert.equal(
    Memcached.document(),
    `# Memcached

API group \`cache.example.com\`, namespaced, \`memcacheds\`, \`mc\` to kubectl.

## v1

A cache.

### spec

| Field | Type | | What it is |
|---|---|---|---|
| \`size\` | integer | default \`3\` | How many. From 1 to 9. |
| \`image\` | string | required | Matches \`^[a-z/:.0-9]+$\`. |
| \`ports\` | list of object |  | Items differ by \`name\`. |
| \`ports[].name\` | string | required |  |
| \`ports[].port\` | integer or string | required |  |
| \`memory\` | quantity | default \`"64Mi"\` |  |
| \`zone\` | string |  | Rule: field is immutable. |

### status

| Field | Type | | What it is |
|---|---|---|---|
| \`ready\` | integer | required |  |
| \`observedGeneration\` | integer (int64) |  | The generation of the spec that this status is about. |
| \`conditions\` | list of object |  | Items differ by \`type\`. |
| \`conditions[].type\` | string | required | At most 316 characters. |
| \`conditions[].status\` | string | required | One of \`True\`, \`False\`, \`Unknown\`. |
| \`conditions[].observedGeneration\` | integer (int64) |  | At least 0. |
| \`conditions[].lastTransitionTime\` | string (date-time) |  |  |
| \`conditions[].reason\` | string |  | At most 1024 characters. |
| \`conditions[].message\` | string |  | At most 32768 characters. |
`,
  );
});
