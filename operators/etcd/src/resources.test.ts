import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from './api/etcd-cluster.js';
import { peerUrlOf, podNameOf, seedNameOf } from './names.js';
import { clientService, memberPod, peerService } from './resources.js';

const cluster: EtcdCluster = {
  metadata: { name: 'example-etcd-cluster', namespace: 'default', uid: '4b5215fa-5401-4a95-a8c6-892317c9bef8' },
  spec: { size: 3, version: 'v3.2.13' },
};
const name = 'example-etcd-cluster-mbzlg6sd56';
const initialCluster = [{ name, peerUrl: peerUrlOf(cluster, name) }];

test("a seed is started by the seed document's command line", () => {
  const [etcd] = memberPod(cluster, { name, initialState: 'new', initialCluster }).spec?.containers ?? [];
  const host = `${name}.example-etcd-cluster.default.svc`;
  assert.equal(etcd?.image, 'quay.io/coreos/etcd:v3.2.13');
  assert.deepEqual(etcd?.command, [
    '/usr/local/bin/etcd',
    '--data-dir=/var/etcd/data',
    `--name=${name}`,
    `--initial-advertise-peer-urls=http://${host}:2380`,
    '--listen-peer-urls=http://0.0.0.0:2380',
    '--listen-client-urls=http://0.0.0.0:2379',
    `--advertise-client-urls=http://${host}:2379`,
    `--initial-cluster=${name}=http://${host}:2380`,
    '--initial-cluster-state=$(ETCD_STATE)',
    '--initial-cluster-token=4b5215fa-5401-4a95-a8c6-892317c9bef8',
  ]);
});

test('what a container starts as is read from an annotation, which can be changed, and not fixed in the pod (E5)', () => {
  const pod = memberPod(cluster, { name, initialState: 'new', initialCluster });
  const annotation = 'etcd.database.coreos.com/initial-cluster-state';
  assert.equal(pod.metadata.annotations?.[annotation], 'new');
  const state = pod.spec?.containers[0]?.env?.find((each) => each.name === 'ETCD_STATE');
  assert.equal(state?.valueFrom?.fieldRef?.fieldPath, `metadata.annotations['${annotation}']`);
});

test('what a person asks for in spec.pod reaches the pod, and cannot hide it from its services', () => {
  const spec: EtcdCluster['spec'] = {
    size: 1,
    version: '3.2.13',
    repository: 'example.test/etcd',
    pod: {
      labels: { team: 'blue', app: 'other' },
      annotations: { note: 'kept' },
      nodeSelector: { disk: 'fast' },
      antiAffinity: true,
      etcdEnv: [{ name: 'ETCD_SNAPSHOT_COUNT', value: '10000' }],
      resources: { limits: { memory: '1Gi' } },
      ClusterDomain: '.cluster.local',
      DNSTimeoutInSecond: 30,
    },
  };
  const pod = memberPod({ ...cluster, spec }, { name, initialState: 'existing', initialCluster });
  assert.deepEqual(pod.metadata.labels, {
    team: 'blue',
    app: 'etcd',
    etcd_cluster: 'example-etcd-cluster',
    etcd_node: name,
  });
  assert.equal(pod.metadata.annotations?.note, 'kept');
  assert.deepEqual(pod.spec?.nodeSelector, { disk: 'fast' });
  assert.equal(pod.spec?.containers[0]?.image, 'example.test/etcd:v3.2.13');
  assert.equal(pod.spec?.containers[0]?.env?.at(-1)?.name, 'ETCD_SNAPSHOT_COUNT');
  assert.ok(pod.spec?.containers[0]?.command?.some((flag) => flag.includes('.svc.cluster.local:2380')));
  assert.match(pod.spec?.initContainers?.[0]?.command?.at(-1) ?? '', /did not resolve in 30 s/);
  const [term] = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  assert.deepEqual(term?.labelSelector?.matchLabels, { app: 'etcd', etcd_cluster: 'example-etcd-cluster' });
});

test('everything belongs to its EtcdCluster, and goes with it', () => {
  const pod = memberPod(cluster, { name, initialState: 'new', initialCluster });
  for (const object of [peerService(cluster), clientService(cluster), pod]) {
    const [owner] = object.metadata.ownerReferences ?? [];
    assert.deepEqual([owner?.kind, owner?.uid, owner?.controller], ['EtcdCluster', cluster.metadata.uid, true]);
  }
});

test('the peer service names pods before they are ready; the client service has an address', () => {
  assert.equal(peerService(cluster).spec?.clusterIP, 'None');
  assert.equal(peerService(cluster).spec?.publishNotReadyAddresses, true);
  assert.equal(clientService(cluster).metadata.name, 'example-etcd-cluster-client');
  assert.equal(clientService(cluster).spec?.type, 'ClusterIP');
});

test("a pod's name can be read from its peer URL, and the seed's is the same each time", () => {
  assert.equal(podNameOf(peerUrlOf(cluster, name)), name);
  assert.match(seedNameOf(cluster), /^example-etcd-cluster-[a-z0-9]{10}$/);
  assert.equal(seedNameOf(cluster), seedNameOf({ ...cluster }));
  const other = { ...cluster, metadata: { ...cluster.metadata, uid: 'another' } };
  assert.notEqual(seedNameOf(cluster), seedNameOf(other));
});
