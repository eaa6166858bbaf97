import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '../schema/json-schema.js';
import { StatusError } from '../status-error.js';
import type { JsonRecord } from '../value/record.js';
import { applyPatch } from './apply-patch.js';
import { type FieldTypes, untyped } from './field-types.js';
import { typesOfResource } from './schema-types.js';
import { trackUpdate } from './track-update.js';

/** What structured-merge-diff promises in its published test tables, as facts: who writes what, and what is there then. */
interface Behaviour {
  readonly name: string;
  /** Without: a custom resource of which no schema is known. */
  readonly schema?: JsonSchema;
  readonly steps: readonly Step[];
  readonly spec: unknown;
  /** By manager: the fields below `f:spec`. */
  readonly owners: Readonly<Record<string, unknown>>;
}

type Step =
  | { readonly apply: string; readonly spec: JsonRecord; readonly isForced?: boolean; readonly conflict?: string }
  | { readonly update: string; readonly spec: JsonRecord };

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'integer' };
const keyed = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: text, ...properties } },
});
const schema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        number,
        text,
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        items: keyed({ value: number, inner: keyed({ value: number }) }),
        map: { type: 'object', additionalProperties: text },
        whole: { type: 'array', items: number },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: number, b: number } },
      },
    },
  },
};

const item = (name: string, ...fields: readonly string[]) => ({
  [`k:{"name":"${name}"}`]: Object.fromEntries(['.', 'f:name', ...fields].map((field) => [field, {}])),
});
const members = (...values: readonly string[]) => Object.fromEntries(values.map((value) => [`v:"${value}"`, {}]));

const behaviours: readonly Behaviour[] = [
  {
    name: 'a leaf that the applier no longer says goes',
    schema,
    steps: [
      { apply: 'a', spec: { number: 1, text: 'x' } },
      { apply: 'a', spec: { number: 1 } },
    ],
    spec: { number: 1 },
    owners: { a: { 'f:number': {} } },
  },
  {
    name: 'an update of an applied leaf takes it, and the next apply of the old value is a conflict',
    schema,
    steps: [
      { apply: 'a', spec: { number: 1, text: 'x' } },
      { update: 'u', spec: { number: 2, text: 'x' } },
      { apply: 'a', spec: { number: 1, text: 'x' }, conflict: 'conflict with "u" using example.com/v1: .spec.number' },
    ],
    spec: { number: 2, text: 'x' },
    owners: { a: { 'f:text': {} }, u: { 'f:number': {} } },
  },
  {
    name: 'an apply of the value that an update has set shares it',
    schema,
    steps: [
      { apply: 'a', spec: { number: 1 } },
      { update: 'u', spec: { number: 2 } },
      { apply: 'a', spec: { number: 2 } },
    ],
    spec: { number: 2 },
    owners: { a: { 'f:number': {} }, u: { 'f:number': {} } },
  },
  {
    name: 'force takes a leaf from its manager, who then has nothing',
    schema,
    steps: [
      { apply: 'a', spec: { number: 1 } },
      { apply: 'b', spec: { number: 2 }, isForced: true },
    ],
    spec: { number: 2 },
    owners: { b: { 'f:number': {} } },
  },
  {
    name: 'a field that an update removes is nobody’s',
    schema,
    steps: [
      { apply: 'a', spec: { number: 1, text: 'x' } },
      { update: 'u', spec: { number: 1 } },
    ],
    spec: { number: 1 },
    owners: { a: { 'f:number': {} } },
  },
  {
    name: 'what only an update has owned stays when an apply lets go of it',
    schema,
    steps: [
      { apply: 'a', spec: { number: 1, text: 'x' } },
      { update: 'u', spec: { number: 1, text: 'y' } },
      { apply: 'a', spec: { number: 1 } },
    ],
    spec: { number: 1, text: 'y' },
    owners: { a: { 'f:number': {} }, u: { 'f:text': {} } },
  },
  {
    name: 'a set loses the members that its only applier lets go of',
    schema,
    steps: [
      { apply: 'a', spec: { set: ['a', 'b', 'c', 'd'] } },
      { apply: 'a', spec: { set: ['a', 'c'] } },
    ],
    spec: { set: ['a', 'c'] },
    owners: { a: { 'f:set': members('a', 'c') } },
  },
  {
    name: 'a set keeps the members that an update has added',
    schema,
    steps: [
      { apply: 'a', spec: { set: ['a', 'c'] } },
      { update: 'u', spec: { set: ['a', 'b', 'c', 'd'] } },
      { apply: 'a', spec: { set: ['a', 'b', 'c'] } },
    ],
    spec: { set: ['a', 'b', 'c', 'd'] },
    owners: { a: { 'f:set': members('a', 'b', 'c') }, u: { 'f:set': members('b', 'd') } },
  },
  {
    name: 'a member that two apply goes when both have let go of it',
    schema,
    steps: [
      { apply: 'a', spec: { set: ['x', 'y'] } },
      { apply: 'b', spec: { set: ['y', 'z'] } },
      { apply: 'a', spec: { set: ['x'] } },
      { apply: 'b', spec: { set: ['z'] } },
    ],
    spec: { set: ['x', 'z'] },
    owners: { a: { 'f:set': members('x') }, b: { 'f:set': members('z') } },
  },
  {
    name: 'items of two appliers are side by side, and each takes only its own away',
    schema,
    steps: [
      { apply: 'a', spec: { items: [{ name: 'p', value: 1 }, { name: 'q' }] } },
      { apply: 'b', spec: { items: [{ name: 'r', value: 3 }] } },
      { apply: 'a', spec: { items: [{ name: 'p', value: 1 }] } },
    ],
    spec: {
      items: [
        { name: 'p', value: 1 },
        { name: 'r', value: 3 },
      ],
    },
    owners: { a: { 'f:items': item('p', 'f:value') }, b: { 'f:items': item('r', 'f:value') } },
  },
  {
    name: 'an item that another has a field of stays with that field',
    schema,
    steps: [
      { apply: 'a', spec: { items: [{ name: 'p' }] } },
      { apply: 'b', spec: { items: [{ name: 'p', value: 1 }] } },
      { apply: 'a', spec: {} },
    ],
    spec: { items: [{ name: 'p', value: 1 }] },
    owners: { a: {}, b: { 'f:items': item('p', 'f:value') } },
  },
  {
    name: 'an item within an item is taken away alone',
    schema,
    steps: [
      { apply: 'a', spec: { items: [{ name: 'p', inner: [{ name: 'i', value: 1 }, { name: 'j' }] }] } },
      { apply: 'a', spec: { items: [{ name: 'p', inner: [{ name: 'i', value: 1 }] }] } },
    ],
    spec: { items: [{ name: 'p', inner: [{ name: 'i', value: 1 }] }] },
    owners: {
      a: {
        'f:items': {
          'k:{"name":"p"}': { '.': {}, 'f:name': {}, 'f:inner': item('i', 'f:value') },
        },
      },
    },
  },
  {
    name: 'a value in an item is a conflict that names the item',
    schema,
    steps: [
      { apply: 'a', spec: { items: [{ name: 'p', value: 1 }] } },
      {
        apply: 'b',
        spec: { items: [{ name: 'p', value: 2 }] },
        conflict: 'conflict with "a": .spec.items[name="p"].value',
      },
    ],
    spec: { items: [{ name: 'p', value: 1 }] },
    owners: { a: { 'f:items': item('p', 'f:value') } },
  },
  {
    name: 'entries of a map have owners of their own',
    schema,
    steps: [
      { apply: 'a', spec: { map: { k: '1' } } },
      { apply: 'b', spec: { map: { l: '2' } } },
      { apply: 'a', spec: { map: {} } },
    ],
    spec: { map: { l: '2' } },
    owners: { a: { 'f:map': {} }, b: { 'f:map': { 'f:l': {} } } },
  },
  {
    name: 'an atomic list and an atomic object are one value each',
    schema,
    steps: [
      { apply: 'a', spec: { whole: [1, 2], atomic: { a: 1 } } },
      {
        apply: 'b',
        spec: { whole: [1, 2, 3], atomic: { b: 2 } },
        conflict: 'conflicts with "a":\n- .spec.atomic\n- .spec.whole',
      },
      { apply: 'b', spec: { whole: [3], atomic: { b: 2 } }, isForced: true },
    ],
    spec: { whole: [3], atomic: { b: 2 } },
    owners: { b: { 'f:atomic': {}, 'f:whole': {} } },
  },
  {
    name: 'without a schema fields are separate and lists are one value',
    steps: [
      { apply: 'a', spec: { deep: { x: 1 }, list: [{ name: 'p' }] } },
      { apply: 'b', spec: { deep: { y: 2 } } },
      { apply: 'b', spec: { deep: { y: 2 }, list: [{ name: 'q' }] }, conflict: 'conflict with "a": .spec.list' },
    ],
    spec: { deep: { x: 1, y: 2 }, list: [{ name: 'p' }] },
    owners: {
      a: { '.': {}, 'f:deep': { '.': {}, 'f:x': {} }, 'f:list': {} },
      b: { '.': {}, 'f:deep': { '.': {}, 'f:y': {} } },
    },
  },
];

for (const { name, schema: own, steps, spec, owners } of behaviours) {
  test(`structured-merge-diff: ${name}`, () => {
    const types = own === undefined ? untyped : typesOfResource(own);
    let object: JsonRecord | undefined;
    for (const [index, step] of steps.entries())
      object = stepped(object, step, { types, now: `2026-01-01T00:00:0${index}Z` });
    assert.deepEqual(object?.spec, spec);
    const { managedFields = [] } = JSON.parse(JSON.stringify(object)).metadata;
    const found = managedFields.map(({ manager, fieldsV1 }: { manager: string; fieldsV1: Record<string, unknown> }) => [
      manager,
      fieldsV1['f:spec'],
    ]);
    assert.deepEqual(Object.fromEntries(found), owners);
  });
}

function stepped(
  current: JsonRecord | undefined,
  step: Step,
  options: { readonly types: FieldTypes; readonly now: string },
): JsonRecord | undefined {
  const written = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: step.spec };
  if ('update' in step) {
    const { metadata } = current ?? written;
    return trackUpdate(current, { ...written, metadata }, { ...options, manager: step.update });
  }
  const apply = () => applyPatch(current, written, { ...options, manager: step.apply, force: step.isForced === true });
  if (step.conflict === undefined) return apply();
  const { conflict } = step;
  assert.throws(apply, (error) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.message.replace(/^Apply failed with \d+ conflicts?: /, ''), conflict);
    return true;
  });
  return current;
}
