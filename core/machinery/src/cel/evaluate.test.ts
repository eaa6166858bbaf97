import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { run as oracle } from '@bufbuild/cel';
import type { JsonSchema } from '../schema/json-schema.js';
import { CelBudget } from './budget.js';
import { CelCompileError, CelCostError, CelEvaluationError } from './cel-error.js';
import { type CelEngine, loadCelEngine } from './engine.js';
import { celValueOf } from './from-json.js';
import { resourceTypeOf } from './schema-type.js';
import type { CelValue } from './value.js';

let engine: CelEngine;
before(async () => {
  engine = await loadCelEngine();
});

const integer: JsonSchema = { type: 'integer' };
const text: JsonSchema = { type: 'string' };
const schema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: integer,
        q: text,
        'foo-bar': integer,
        numbers: { type: 'array', items: integer },
        ports: { type: 'object', additionalProperties: integer },
        members: { type: 'array', items: { type: 'object', properties: { a: integer, name: text } } },
        since: { type: 'string', format: 'date-time' },
        every: { type: 'string', format: 'duration' },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        most: { 'x-kubernetes-int-or-string': true },
      },
    },
  },
};

const object = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec: {
    a: 1,
    q: '2Gi',
    'foo-bar': 3,
    numbers: [3, 1, 2],
    ports: { x: 1, y: 2 },
    members: [
      { a: 1, name: 'x' },
      { a: 2, name: 'y' },
    ],
    since: '2021-01-01T00:00:00Z',
    every: '90m',
    set: ['a', 'b'],
    most: '5%',
  },
};

function evaluated(source: string, limit = 1_000_000): CelValue {
  const type = resourceTypeOf(schema);
  assert.ok(type);
  const program = engine.compile(source, { self: { type } });
  return program.evaluate(new Map([['self', celValueOf(object, type)]]), new CelBudget(limit));
}

const hold = [
  'self.metadata.name == "w"',
  'self.spec.foo__dash__bar == 3',
  'self.spec.numbers.sum() == 6 && self.spec.numbers.min() == 1 && !self.spec.numbers.isSorted()',
  'self.spec.ports.map(k, self.spec.ports[k]).sum() == 3',
  'self.spec.members.all(m, m.a > 0 && m.name in ["x", "y"])',
  'self.spec.members.exists_one(m, m.name == "x")',
  'quantity(self.spec.q).isGreaterThan(quantity("1Gi"))',
  'quantity("1k").add(quantity("24")).asInteger() == 1024',
  'self.spec.since > timestamp("2020-01-01T00:00:00Z") && self.spec.since.getFullYear() == 2021',
  'self.spec.every > duration("1h") && self.spec.every.getMinutes() == 90',
  'self.spec.set == ["b", "a"]',
  'type(self.spec.most) == string ? self.spec.most.matches("^[0-9]+%$") : self.spec.most > 2',
  '!has(self.spec.nothing) && has(self.spec.a)',
  'self.spec.?nothing.orValue(7) == 7 && self.spec.?a.orValue(7) == 1',
  'cel.bind(x, self.spec.a, x + 1) == 2',
  'ip("10.0.0.1").family() == 4 && ip("fe80::1").isLinkLocalUnicast() && !isIP("10.0.0.256")',
  'cidr("10.0.0.0/8").containsIP("10.2.3.4") && cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8")',
  'isURL("https://x/y?z=1") && url("https://h:80/p").getHostname() == "h" && !isURL("h/p")',
  'semver("1.2.3-rc.1").isLessThan(semver("1.2.3")) && semver("1.10.0").isGreaterThan(semver("1.9.9"))',
  'sets.contains([1, 2], [2]) && sets.intersects([1], [1, 2]) && !sets.equivalent([1], [2])',
  '"abbc".find("b+") == "bb" && "a1b2".findAll("[0-9]") == ["1", "2"]',
  '"%s has %d, %.2f, %x".format(["x", 5, 1.5, 255]) == "x has 5, 1.50, ff"',
  '"a,b".split(",").join("-") == "a-b" && "Abc".lowerAscii() == "abc" && "abc".charAt(1) == "b"',
];

for (const source of hold) {
  test(`holds: ${source}`, () => assert.equal(evaluated(source), true));
}

test('what plain expressions are is what another implementation of the language says', () => {
  const sources = [
    '1 + 2 * 3 == 7',
    '7 / 2',
    '-7 % 3',
    '1.5 * 2.0',
    '"a" + "b" < "b"',
    '[1, 2, 3].filter(x, x > 1).size()',
    '{"a": 1, "b": 2}.all(k, k < "c")',
    '[1, 2].exists(x, x / 0 == 1) || true',
    'false && [1][5] == 1',
    'size("héllo")',
    '"abc".matches("a.c") && "abc".contains("b") && "abc".endsWith("c")',
    'duration("90m") > duration("1h")',
    'timestamp("2021-01-01T00:00:00Z") + duration("1h") == timestamp("2021-01-01T01:00:00Z")',
    'int("12") + int(3.9)',
    'string(12) + string(true) + string(duration("90m"))',
    'dyn([1, "a"]) == dyn([1, "a"])',
    '3 in [1, 2, 3] && !("x" in {"a": 1})',
    '1u + 2u == 3u',
    'true ? "x" : "y"',
    'b"abc".size() == 3',
  ];
  for (const source of sources) assert.deepEqual(evaluated(source), oracle(source), source);
});

test('an expression without a value says why as cel-go does', () => {
  const messages = {
    'self.spec.numbers[10] == 1': 'index out of bounds: 10',
    '9223372036854775807 + self.spec.a == 1': 'integer overflow',
    'self.spec.a / 0 == 1': 'division by zero',
    'self.spec.ports["z"] == 1': 'no such key: z',
    'ip("x").family() == 4': 'IP Address "x" parse error during conversion from string',
  };
  for (const [source, message] of Object.entries(messages)) {
    assert.throws(() => evaluated(source), { name: CelEvaluationError.name, message }, source);
  }
});

test('an expression that does not compile shows the place as cel-go does', () => {
  const messages = {
    'self.spec.zzz == 1': `ERROR: <input>:1:10: undefined field 'zzz'\n | self.spec.zzz == 1\n | .........^`,
    'other > 1': `ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other > 1\n | ^`,
    'self.spec.a == "x"': `ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(int, string)'\n | self.spec.a == "x"\n | ............^`,
    '"x" + self.spec.a == "x"': `ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n | "x" + self.spec.a == "x"\n | ....^`,
    '"x".foo()': `ERROR: <input>:1:8: undeclared reference to 'foo' (in container '')\n | "x".foo()\n | .......^`,
    '["x"].exists(x, x.foo)': `ERROR: <input>:1:18: type 'string' does not support field selection\n | ["x"].exists(x, x.foo)\n | .................^`,
    '["x"].all(x, x)': `ERROR: <input>:1:14: expected type 'bool' but found 'string'\n | ["x"].all(x, x)\n | .............^`,
    'has(self)': `ERROR: <input>:1:5: invalid argument to has() macro\n | has(self)\n | ....^`,
    'true &&\n  self.spec.q.size(1)': `ERROR: <input>:2:19: found no matching overload for 'size' applied to 'string.(int)'\n |   self.spec.q.size(1)\n | ..................^`,
  };
  for (const [source, message] of Object.entries(messages)) {
    assert.throws(() => evaluated(source), { name: CelCompileError.name, message }, source);
  }
});

test('a bomb is stopped by its budget, and no operator hides that', () => {
  const numbers = JSON.stringify(Array.from({ length: 200 }, (_, index) => index));
  const bomb = `${numbers}.all(x, ${numbers}.all(y, ${numbers}.all(z, x + y + z >= 0)))`;
  assert.throws(() => evaluated(`${bomb} || true`), CelCostError);
  assert.throws(() => evaluated('"aaaaaaaaaa".matches("(a+)+$")', 3), CelCostError);
});
