import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFieldError } from '@castellan/machinery';
import { etcdClusters } from './etcd-cluster.js';

const manifest = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'example-etcd-cluster' },
};

test('a manifest of the operator that the kind comes from is good as it is', async () => {
  await etcdClusters.check();
  const pod = { tolerations: [{ key: 'a' }], persistentVolumeClaimSpec: { storageClassName: 'b' }, antiAffinity: true };
  const { spec } = await etcdClusters.parse({ ...manifest, spec: { size: 3, pod } });
  assert.deepEqual(spec, { size: 3, version: '3.2.13', pod });
});

test('a size, a version and a name that no cluster can have are refused', async () => {
  const metadata = { name: 'a'.repeat(53) };
  const errors = await etcdClusters.validate({ ...manifest, metadata, spec: { size: 8, version: 'latest' } });
  assert.deepEqual(errors.map(formatFieldError), [
    'spec.size: Invalid value: 8: spec.size in body should be less than or equal to 7',
    'spec.version: Invalid value: "latest": spec.version in body should match \'^v?[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$\'',
    '<nil>: Invalid value: the name may have 52 characters, so that the names of its pods are host names',
  ]);
});
