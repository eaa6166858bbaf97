import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, quantityToNumber } from './quantity.js';

test('quantities are printed in their canonical form', () => {
  const examples: Readonly<Record<string, string>> = {
    '0': '0',
    '0Gi': '0',
    '500m': '500m',
    '1000m': '1',
    '1500m': '1500m',
    '0.5': '500m',
    '1.5': '1500m',
    '.5': '500m',
    '1.': '1',
    '1Gi': '1Gi',
    '1024Mi': '1Gi',
    '1.5Gi': '1536Mi',
    '512': '512',
    '0.5Ki': '512',
    '1000k': '1M',
    '2e3': '2e3',
    '20e2': '2e3',
    '2E': '2E',
    '2E3': '2e3',
    '12345e-3': '12345e-3',
    '100n': '100n',
    '1e-12': '1e-9',
    '-1500m': '-1500m',
    '+1': '1',
  };
  for (const [text, canonical] of Object.entries(examples)) {
    assert.equal(formatQuantity(parseQuantity(text)), canonical, text);
  }
});

test('what is no quantity is refused', () => {
  for (const text of ['', 'x', '1.2.3', '1 Gi', '1Kii', '1ki', '--1', '1e', 'e3', '0x10', '1K', '.']) {
    assert.throws(() => parseQuantity(text), /quantities must match the regular expression/, text);
  }
});

test('an amount beyond all measure is cut off and does not take for ever', () => {
  assert.equal(compareQuantities(parseQuantity('1e999999999'), parseQuantity('9223372036854775807')), 0);
  assert.equal(parseQuantity('1e-999999999').nano, 1n);
  assert.equal(compareQuantities(parseQuantity('16Ei'), parseQuantity('8Ei')), 0);
});

const quantity = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 10n ** 9n }),
    fc.integer({ min: 0, max: 999 }),
    fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3'),
  )
  .map(([whole, fraction, suffix]) => parseQuantity(`${whole}.${fraction}${suffix}`));

test('a quantity that is printed and read again is the same, but for parts of a byte in binary', () => {
  fc.assert(
    fc.property(quantity, (value) => {
      const again = parseQuantity(formatQuantity(value));
      if (value.format === 'binary') {
        assert.ok(again.nano >= value.nano && again.nano - value.nano < 10n ** 9n);
      } else {
        assert.equal(compareQuantities(again, value), 0);
        assert.equal(formatQuantity(again), formatQuantity(value));
      }
    }),
  );
});

test('order and sum are those of the amounts', () => {
  assert.ok(compareQuantities(parseQuantity('1Gi'), parseQuantity('1G')) > 0);
  assert.ok(compareQuantities(parseQuantity('999m'), parseQuantity('1')) < 0);
  assert.equal(formatQuantity(addQuantities(parseQuantity('0.1'), parseQuantity('0.2'))), '300m');
  assert.equal(quantityToNumber(parseQuantity('1Gi')), 1024 ** 3);
  assert.equal(quantityToNumber(parseQuantity('250m')), 0.25);
});
