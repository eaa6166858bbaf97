import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeEnvelope, decodeMessage } from './decode.js';
import { ProtobufError } from './wire.js';

type Part = readonly [number: number, value: string | number | Uint8Array];

/** A message of texts, numbers and messages. */
function message(...parts: readonly Part[]): Uint8Array {
  return Buffer.concat(
    parts.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
      const bytes = Buffer.from(value);
      return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
    }),
  );
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

const entry = (key: string, value: string | Uint8Array) => message([1, key], [2, value]);

test('reads the envelope that Go clients put around every body', () => {
  const unknown = message([1, message([1, 'v1'], [2, 'ConfigMap'])], [2, 'bytes'], [3, ''], [4, '']);
  const envelope = decodeEnvelope(Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0]), unknown]));
  assert.equal(envelope.apiVersion, 'v1');
  assert.equal(envelope.kind, 'ConfigMap');
  assert.deepEqual(Buffer.from(envelope.raw), Buffer.from('bytes'));
});

test('reads texts, bytes and metadata by the field table, and leaves out what Go says by an empty value', () => {
  const metadata = message([1, 'settings'], [2, ''], [3, 'default'], [7, 0], [8, ''], [11, entry('app', 'a')]);
  const raw = message([1, metadata], [2, entry('k', 'v')], [2, entry('l', '')], [3, entry('b', Buffer.from([0, 255]))]);
  assert.deepEqual(decodeMessage('core/v1.ConfigMap', raw), {
    metadata: { name: 'settings', namespace: 'default', labels: { app: 'a' } },
    data: { k: 'v', l: '' },
    binaryData: { b: 'AP8=' },
  });
});

test('keeps the zeros and empty texts that say something', () => {
  assert.deepEqual(decodeMessage('apps/v1.DeploymentSpec', message([1, 0], [5, 0], [7, 0])), { replicas: 0 });
  assert.deepEqual(decodeMessage('core/v1.PersistentVolumeClaimSpec', message([5, ''], [3, ''])), {
    storageClassName: '',
  });
});

test('embedded structures stand in place of themselves', () => {
  const handler = message([2, message([1, '/healthz'], [2, message([1, 0], [2, 8080], [3, ''])])]);
  assert.deepEqual(decodeMessage('core/v1.Probe', message([1, handler], [2, 5], [3, 0])), {
    httpGet: { path: '/healthz', port: 8080 },
    initialDelaySeconds: 5,
  });
  const volume = message([1, 'data'], [2, message([2, message([1, ''], [2, message([1, '1Gi'])])])]);
  assert.deepEqual(decodeMessage('core/v1.Volume', volume), { name: 'data', emptyDir: { sizeLimit: '1Gi' } });
});

test('times, quantities, ports by name and raw JSON have the form that JSON gives them', () => {
  const lease = message([1, 'me'], [2, 15], [3, message([1, 1_700_000_000], [2, 123_456_789])]);
  assert.deepEqual(decodeMessage('coordination/v1.LeaseSpec', lease), {
    holderIdentity: 'me',
    leaseDurationSeconds: 15,
    acquireTime: '2023-11-14T22:13:20.123456Z',
  });
  assert.deepEqual(decodeMessage('meta/v1.ObjectMeta', message([9, message([1, 1_700_000_000])])), {
    deletionTimestamp: '2023-11-14T22:13:20Z',
  });
  assert.deepEqual(decodeMessage('core/v1.ServicePort', message([3, 80], [4, message([1, 1], [2, 0], [3, 'web'])])), {
    port: 80,
    targetPort: 'web',
  });
  assert.deepEqual(decodeMessage('apps/v1.ControllerRevision', message([2, message([1, '{"a":[1]}'])], [3, 4])), {
    data: { a: [1] },
    revision: 4,
  });
});

test('schemas of CustomResourceDefinitions have their JSON names and their choices', () => {
  const items = message([1, message([5, 'string'])]);
  const schema = message([5, 'object'], [24, items], [30, message([1, 1], [2, ''])], [38, 1], [8, message([1, '3'])]);
  assert.deepEqual(decodeMessage('apiextensions/v1.JSONSchemaProps', schema), {
    type: 'object',
    items: { type: 'string' },
    additionalProperties: {},
    'x-kubernetes-preserve-unknown-fields': true,
    default: 3,
  });
});

test('negative numbers are read as such', () => {
  assert.deepEqual(decodeMessage('scheduling/v1.PriorityClass', message([2, -10])), { value: -10 });
});

test('messages nested without end are refused', () => {
  let schema = message([5, 'object']);
  for (let depth = 0; depth < 200; depth += 1) schema = message([28, schema]);
  assert.throws(() => decodeMessage('apiextensions/v1.JSONSchemaProps', schema), ProtobufError);
});

test('whatever the bytes are, they are read or refused', () => {
  const spec = message([2, message([1, 'c'], [2, 'i'], [10, message([2, 5])])], [3, 'Always'], [4, 30]);
  const pod = message([1, message([1, 'p'], [8, message([1, 5])])], [2, spec], [3, message([1, 'Pending'])]);
  const mutation = fc.record({ at: fc.nat(pod.length - 1), to: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(mutation, { maxLength: 6 }), fc.nat(pod.length), (mutations, length) => {
      const bytes = Buffer.from(pod);
      for (const { at, to } of mutations) bytes[at] = to;
      readsOrRefuses(bytes.subarray(0, length));
    }),
    { numRuns: 3000 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), readsOrRefuses), { numRuns: 2000 });
});

function readsOrRefuses(bytes: Uint8Array): void {
  try {
    JSON.stringify(decodeMessage('core/v1.Pod', bytes));
  } catch (error) {
    assert.ok(error instanceof ProtobufError, String(error));
  }
}
