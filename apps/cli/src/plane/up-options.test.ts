import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError } from '../errors.js';
import { formatNodes, formatStorage, formatStorageOptions, parseUpOptions } from './up-options.js';

test('--storage is the embedded keyspace, or an etcd with its endpoints', () => {
  assert.equal(parseUpOptions({}).storage, undefined);
  for (const storage of ['embedded', 'etcd://127.0.0.1:2379', 'etcd://etcd-0.etcd:2379,[fd00::1]:2379']) {
    assert.equal(formatStorage(parseUpOptions({ storage }).storage ?? { type: 'embedded' }), storage);
  }
  const { storage } = parseUpOptions({ storage: 'etcd://one:2379,two:2380' });
  assert.deepEqual(storage, { type: 'etcd', endpoints: ['one:2379', 'two:2380'] });
});

test('--storage that is neither is refused with the part that is wrong', () => {
  const wrong = [
    ['floppy', /neither "embedded" nor etcd/],
    ['http://127.0.0.1:2379', /neither "embedded" nor etcd/],
    ['etcd://', /"" is not HOST:PORT/],
    ['etcd://one:2379,two', /"two" is not HOST:PORT/],
    ['etcd://one:2379/registry', /"one:2379\/registry" is not HOST:PORT/],
    ['etcd://one:0', /"one:0" is not HOST:PORT/],
    ['etcd://one:65536', /"one:65536" is not HOST:PORT/],
    ['etcd://user:password@one:2379', /is not HOST:PORT/],
  ] as const;
  for (const [storage, says] of wrong) {
    assert.throws(
      () => parseUpOptions({ storage }),
      (error) => error instanceof CliError && error.code === 'USAGE' && says.test(error.message),
      storage,
    );
  }
});

test('--nodes and --zones are passed on, and refused where there is no room or no such label', () => {
  assert.deepEqual(parseUpOptions({}).nodes, {});
  const options = parseUpOptions({ nodes: 3, zones: 'a,b' });
  assert.deepEqual(options.nodes, { count: 3, zones: ['a', 'b'] });
  assert.deepEqual(formatNodes(options), ['--nodes', '3', '--zones', 'a,b']);
  assert.throws(() => parseUpOptions({ nodes: 17 }), /--nodes 17: there is room for 16 nodes/);
  assert.throws(() => parseUpOptions({ zones: 'a,' }), /--zones a,: "" is no value of a label/);
});

test('the files for an etcd with TLS and for encryption are passed on as absolute paths', () => {
  const files = { etcdCafile: '/pki/ca.crt', etcdCertfile: '/pki/c.crt', etcdKeyfile: '/pki/c.key' };
  const options = parseUpOptions({ storage: 'etcd://one:2379', ...files, encryptionProviderConfig: 'encryption.yaml' });
  assert.deepEqual(formatStorageOptions(options), [
    ...['--storage', 'etcd://one:2379'],
    ...['--etcd-cafile', '/pki/ca.crt', '--etcd-certfile', '/pki/c.crt', '--etcd-keyfile', '/pki/c.key'],
    ...['--encryption-provider-config', `${process.cwd()}/encryption.yaml`],
  ]);
});

test('a file for etcd without those that it needs is refused', () => {
  const wrong = [
    [{ etcdCafile: 'ca' }, /needs --storage etcd/],
    [{ storage: 'embedded', etcdCafile: 'ca' }, /needs --storage etcd/],
    [{ storage: 'etcd://one:2379', etcdCafile: 'ca', etcdKeyfile: 'key' }, /need each other/],
    [{ storage: 'etcd://one:2379', etcdCertfile: 'crt', etcdKeyfile: 'key' }, /needs --etcd-cafile/],
  ] as const;
  for (const [options, says] of wrong) assert.throws(() => parseUpOptions(options), { code: 'USAGE', message: says });
});
