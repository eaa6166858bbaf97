import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringFormats } from './formats.js';

const examples: readonly (readonly [format: string, good: readonly string[], bad: readonly string[]])[] = [
  [
    'date-time',
    ['2020-01-01T00:00:00Z', '2020-02-29T23:59:60.5+01:00'],
    ['2021-02-29T00:00:00Z', 'yesterday', '2020-01-01T25:00:00Z'],
  ],
  ['date', ['2020-02-29'], ['2021-02-29', '2020-1-1']],
  ['duration', ['0', '1h30m', '-1.5s', '3 days', '250ms'], ['', '1', '1 fortnight', 'h']],
  ['byte', ['', 'YQ==', 'YWJj'], ['YQ=', '!']],
  ['cidr', ['10.0.0.0/8', 'fd00::/64'], ['10.0.0.0', '10.0.0.0/33', 'x/8', '10.0.0.0/08']],
  ['ipv4', ['127.0.0.1'], ['::1']],
  ['ipv6', ['::1'], ['127.0.0.1']],
  ['uuid', ['6ba7b810-9dad-11d1-80b4-00c04fd430c8'], ['6ba7b810']],
  ['uuid4', ['f47ac10b-58cc-4372-a567-0e02b2c3d479'], ['6ba7b810-9dad-11d1-80b4-00c04fd430c8']],
  ['uri', ['https://example.com/a?b', '/path', 's3://bucket/key'], ['a b', 'relative']],
  ['email', ['a@example.com'], ['example.com']],
  ['hostname', ['example.com', 'a'], ['a..b', '-a', 'a b']],
  ['isbn10', ['0-306-40615-2', '080442957X'], ['0-306-40615-3', '978-0-306-40615-7']],
  ['isbn13', ['978-0-306-40615-7'], ['978-0-306-40615-8', '0-306-40615-2']],
  ['isbn', ['0-306-40615-2', '978-0-306-40615-7'], ['1']],
  ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112', '0000 0000 0000 0000']],
  ['k8s-short-name', ['a-1'], ['a.b', 'A']],
  ['k8s-long-name', ['a.b'], ['a..b']],
  ['mac', ['01:23:45:67:89:ab'], ['01:23']],
];

test('each format takes what it should and refuses the rest', () => {
  for (const [format, good, bad] of examples) {
    const isOfFormat = stringFormats.get(format);
    assert.ok(isOfFormat, format);
    for (const text of good) assert.ok(isOfFormat(text), `${format}: ${text}`);
    for (const text of bad) assert.ok(!isOfFormat(text), `${format}: ${text}`);
  }
});
