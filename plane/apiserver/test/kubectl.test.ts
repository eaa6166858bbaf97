import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { kubectlProgram } from './kubectl-program.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

/** `kubectl`, and `kubectl.1.28` … beside it: what some distributions install. */
const candidates = ['kubectl', ...[28, 29, 30, 31, 32, 33].map((minor) => `kubectl.1.${minor}`)];
const deadlineMs = 90_000;

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: etcdclusters.etcd.database.coreos.com
spec:
  group: etcd.database.coreos.com
  scope: Namespaced
  names: {kind: EtcdCluster, listKind: EtcdClusterList, plural: etcdclusters, singular: etcdcluster, shortNames: [etcd]}
  versions:
  - name: v1beta2
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Version, type: string, jsonPath: .spec.version, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1, maximum: 7}
              version: {type: string}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;
const cluster = (size: number | string) => `apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: example}
spec: {size: ${size}, version: "3.2.13"}
`;
const pod = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: "busybox:1"}]}
`;

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubectl-'));
});
after(() => rm(directory, { recursive: true, force: true }));

for (const name of candidates) {
  test(`${name} creates, changes, watches and deletes what this server serves`, async (t) => {
    const binary = kubectlProgram(name);
    if (binary === undefined) {
      t.skip(`${name} is not on this machine`);
      return;
    }
    const api = await startServer();
    try {
      await story(binary, api);
    } finally {
      await api.stop();
    }
  });
}

async function story(binary: string, api: ServerUnderTest): Promise<void> {
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, api.kubeconfig);
  const cache = await mkdtemp(join(directory, 'cache-'));
  const kubectl = (args: readonly string[], input = '') =>
    run(binary, ['--kubeconfig', kubeconfig, '--cache-dir', cache, ...args], input);
  const ok = async (args: readonly string[], input = '') => {
    const result = await kubectl(args, input);
    assert.equal(result.code, 0, `kubectl ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  assert.equal(await ok(['get', '--raw', '/readyz']), 'ok');
  assert.match(await ok(['version']), /v1\.36\.2/);
  await ok(['create', '-f', '-'], definition);
  assert.match(await ok(['get', 'crd']), /etcdclusters\.etcd\.database\.coreos\.com/);
  assert.match(await ok(['describe', 'crd', 'etcdclusters.etcd.database.coreos.com']), /Short Names:\s+etcd/);
  assert.match(
    await ok(['api-resources']),
    /etcdclusters\s+etcd\s+etcd\.database\.coreos\.com\/v1beta2\s+true\s+EtcdCluster/,
  );
  await ok(['apply', '-f', '-'], cluster(3));
  assert.match(await ok(['apply', '-f', '-'], cluster(5)), /configured/);
  assert.match(await ok(['apply', '-f', '-'], cluster(5)), /unchanged/);
  assert.match(await ok(['get', 'etcd', '-o', 'wide']), /NAME\s+SIZE\s+VERSION\s*\nexample\s+5\s+3\.2\.13/);
  await ok(['patch', 'etcd', 'example', '--type', 'merge', '-p', '{"spec":{"size":3}}']);
  await ok(['patch', 'etcd', 'example', '--type', 'json', '-p', '[{"op":"replace","path":"/spec/size","value":1}]']);
  await ok(['scale', 'etcd', 'example', '--replicas=2']);
  assert.equal(await ok(['get', 'etcd', 'example', '-o', 'jsonpath={.spec.size}']), '2');
  await refusals(kubectl);
  await conditions(ok, api);
  await pods(ok, api);
  await ok(['delete', 'etcd', 'example']);
  await ok(['delete', 'crd', 'etcdclusters.etcd.database.coreos.com']);
  assert.doesNotMatch(await ok(['get', 'crd']), /etcdclusters/);
}

type Kubectl = (args: readonly string[], input?: string) => Promise<{ code: number; stdout: string; stderr: string }>;
type Succeeding = (args: readonly string[], input?: string) => Promise<string>;

async function refusals(kubectl: Kubectl): Promise<void> {
  const tooLarge = await kubectl(['apply', '-f', '-'], cluster(8));
  assert.match(tooLarge.stderr, /spec\.size: Invalid value: 8: spec\.size in body should be less than or equal to 7/);
  const mistyped = await kubectl(['apply', '-f', '-'], cluster('three'));
  assert.match(mistyped.stderr, /spec\.size/);
  const unknown = await kubectl(['apply', '-f', '-'], `${cluster(3)}  \nextra: {a: 1}\n`);
  assert.match(unknown.stderr, /unknown field "extra"/);
}

async function conditions(ok: Succeeding, api: ServerUnderTest): Promise<void> {
  const waiting = ok(['wait', '--for=condition=Available', 'etcd/example', '--timeout=60s']);
  const path = '/apis/etcd.database.coreos.com/v1beta2/namespaces/default/etcdclusters/example/status';
  const status = {
    conditions: [
      { type: 'Available', status: 'True', reason: 'Up', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  };
  const patched = await api.send('PATCH', path, { status }, { 'content-type': 'application/merge-patch+json' });
  assert.equal(patched.status, 200);
  assert.match(await waiting, /condition met/);
}

async function pods(ok: Succeeding, api: ServerUnderTest): Promise<void> {
  await ok(['apply', '-f', '-'], pod);
  assert.match(await ok(['apply', '-f', '-'], pod), /unchanged/);
  await ok(['label', 'pod', 'p', 'x=y']);
  assert.match(await ok(['get', 'pods', '-l', 'x=y', '-o', 'wide']), /p\s+0\/1\s+Pending\s+0/);
  const { json: made } = await api.send('GET', '/api/v1/namespaces/default/pods/p');
  const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default', uid: made.metadata.uid };
  const event = { metadata: { name: 'e' }, involvedObject, reason: 'Made', message: 'it was made', type: 'Normal' };
  await api.send('POST', '/api/v1/namespaces/default/events', event);
  assert.match(await ok(['get', 'events']), /Normal\s+Made\s+pod\/p\s+it was made/);
  assert.match(await ok(['describe', 'pod', 'p']), /it was made/);
  await ok(['delete', 'pod', 'p']);
}

function run(
  binary: string,
  args: readonly string[],
  input: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, args, { timeout: deadlineMs, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
    child.stdin.end(input);
  });
}
