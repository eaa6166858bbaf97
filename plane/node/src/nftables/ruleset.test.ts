import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyRuleset, type Ruleset, rulesetChanges } from './ruleset.js';

function ruleset(parts: {
  readonly sets?: Readonly<Record<string, { readonly declaration: string; readonly elements: readonly string[] }>>;
  readonly chains?: Readonly<Record<string, readonly string[]>>;
  readonly services?: Readonly<Record<string, string>>;
}): Ruleset {
  return {
    sets: new Map(Object.entries(parts.sets ?? {})),
    chains: new Map(Object.entries(parts.chains ?? {})),
    elements: new Map([['services', new Map(Object.entries(parts.services ?? {}))]]),
  };
}

const addresses = 'type ipv4_addr;';

test('what is new is declared before it is referred to', () => {
  const after = ruleset({
    sets: { near: { declaration: addresses, elements: ['10.0.0.1', '10.0.0.2'] } },
    chains: { web: ['ip saddr @near accept', 'drop'] },
    services: { '10.9.0.1 . tcp . 80': 'goto web' },
  });
  assert.deepEqual(rulesetChanges('t', emptyRuleset, after), [
    'add set ip t near { type ipv4_addr; }',
    'add element ip t near { 10.0.0.1, 10.0.0.2 }',
    'add chain ip t web',
    'add rule ip t web ip saddr @near accept',
    'add rule ip t web drop',
    'add element ip t services { 10.9.0.1 . tcp . 80 : goto web }',
  ]);
});

test('only what changed is touched, and what goes is no longer referred to', () => {
  const before = ruleset({
    chains: { kept: ['accept'], changed: ['accept'], gone: ['drop'] },
    services: { a: 'goto kept', b: 'goto gone', c: 'goto gone' },
  });
  const after = ruleset({
    chains: { kept: ['accept'], changed: ['drop'] },
    services: { a: 'goto kept', c: 'goto changed' },
  });
  assert.deepEqual(rulesetChanges('t', before, after), [
    'delete element ip t services { b, c }',
    'flush chain ip t gone',
    'flush chain ip t changed',
    'delete chain ip t gone',
    'add rule ip t changed drop',
    'add element ip t services { c : goto changed }',
  ]);
  assert.deepEqual(rulesetChanges('t', after, after), []);
});

test('a set with other elements is filled anew; one with another declaration is another set, and its readers are written anew', () => {
  const of = (declaration: string, elements: readonly string[]) =>
    ruleset({ sets: { near: { declaration, elements } }, chains: { web: ['ip saddr @near accept'] } });
  assert.deepEqual(rulesetChanges('t', of(addresses, ['10.0.0.1']), of(addresses, ['10.0.0.2'])), [
    'flush set ip t near',
    'add element ip t near { 10.0.0.2 }',
  ]);
  assert.deepEqual(
    rulesetChanges('t', of(addresses, ['10.0.0.1']), of('type ipv4_addr; flags interval;', ['10.0.0.1'])),
    [
      'flush chain ip t web',
      'delete set ip t near',
      'add set ip t near { type ipv4_addr; flags interval; }',
      'add element ip t near { 10.0.0.1 }',
      'add rule ip t web ip saddr @near accept',
    ],
  );
});
