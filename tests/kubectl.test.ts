import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clusterKey, seedManifest, waitForMembers } from './etcd-instance.js';
import { kubectlPrograms } from './kubectl-programs.js';
import { PlaneProcess, run } from './plane-process.js';

const programs = [...(await kubectlPrograms()).values()];
const skip = programs.length === 0 ? 'no kubectl of 1.28 or later is on this machine' : false;
let plane: PlaneProcess;

before(async () => {
  if (skip !== false) return;
  plane = await PlaneProcess.create();
  await plane.up();
});
after(async () => {
  if (skip === false) await plane.remove();
});

async function kubectl(program: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args, { program });
  assert.equal(code, 0, `${program} ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

test('kubectl create -f of the seed, then wait, get, describe, logs and events as the seed shows', {
  skip,
}, async () => {
  const [program = ''] = programs.slice(-1);
  assert.match(await kubectl(program, 'create', '-f', seedManifest), /etcdcluster.*example-etcd-cluster created/);
  await kubectl(program, 'wait', '--for=condition=Available', 'etcd/example-etcd-cluster', '--timeout=90s');
  await waitForMembers(await plane.client(), 3);
  for (const each of programs) {
    assert.match(await kubectl(each, 'get', 'crd'), /etcdclusters\.etcd\.database\.coreos\.com/);
    const described = await kubectl(each, 'describe', 'crd', 'etcdclusters.etcd.database.coreos.com');
    for (const line of [
      /Group:\s+etcd\.database\.coreos\.com/,
      /Kind:\s+EtcdCluster/,
      /Short Names:\s+etcd/,
      /Scope:\s+Namespaced/,
    ]) {
      assert.match(described, line);
    }
    const listed = await kubectl(each, 'get', 'pods');
    assert.match(listed, /^NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE$/m);
    assert.equal(listed.match(/^example-etcd-cluster-[a-z0-9]{10}\s+1\/1\s+Running\s+/gm)?.length, 3, listed);
    assert.match(await kubectl(each, 'get', 'etcd', '-o', 'wide'), /example-etcd-cluster\s+3/);
    assert.match(await kubectl(each, 'get', 'events'), /ImageSubstituted/);
    const [pod = ''] = (await kubectl(each, 'get', 'pods', '-o', 'name')).split('\n');
    assert.match(await kubectl(each, 'logs', pod), /etcd/);
    assert.match(
      await kubectl(each, 'api-resources'),
      /etcdclusters\s+etcd\s+etcd\.database\.coreos\.com\/v1beta2\s+true\s+EtcdCluster/,
    );
    assert.match(await kubectl(each, 'describe', 'etcd', 'example-etcd-cluster'), /Available/);
  }
});

test('every kubectl applies, patches and edits the size', { skip }, async () => {
  const name = `etcd/${clusterKey.name}`;
  const size = async () => await kubectl(programs[0] ?? '', 'get', name, '-o', 'jsonpath={.spec.size}');
  for (const program of programs) {
    await kubectl(program, 'patch', name, '--type=merge', '-p', '{"spec":{"paused":true,"size":5}}');
    assert.equal(await size(), '5');
    const edited = await run(program, ['--kubeconfig', plane.kubeconfig, 'edit', name], {
      env: { HOME: plane.directory, KUBE_EDITOR: 'sed -i s/size:.5/size\\:\\ 4/' },
    });
    assert.equal(edited.code, 0, edited.stderr);
    assert.equal(await size(), '4');
    await kubectl(program, 'apply', '-f', seedManifest);
    assert.equal(await size(), '3');
    await kubectl(program, 'patch', name, '--type=merge', '-p', '{"spec":{"paused":false}}');
  }
  await waitForMembers(await plane.client(), 3);
});

test('every kubectl creates, applies, gets and deletes a config map from a file', { skip }, async () => {
  const manifest = (value: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: by-kubectl}\ndata: {key: ${value}}\n`;
  for (const program of programs) {
    for (const value of ['one', 'two']) {
      const applied = await plane.kubectl(['apply', '-f', '-'], { program, input: manifest(value) });
      assert.equal(applied.code, 0, `${program}: ${applied.stderr}`);
      assert.equal(await kubectl(program, 'get', 'cm', 'by-kubectl', '-o', 'jsonpath={.data.key}'), value);
    }
    await kubectl(program, 'delete', 'cm', 'by-kubectl');
  }
});
