import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type KubectlSession, kubectlSession, withoutKubectl } from './kubectl-session.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const skip = withoutKubectl;
const pods = '/api/v1/namespaces/default/pods';
const merge = { 'content-type': 'application/merge-patch+json' };
let server: ServerUnderTest;
let kubectl: KubectlSession;
before(async () => {
  server = await startServer();
  kubectl = await kubectlSession(server);
  await server.send('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const ready = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.36.2' } };
  await server.send('PATCH', '/api/v1/nodes/n1/status', { status: ready }, merge);
});
after(() => server.stop());

async function runOnNode(name: string): Promise<void> {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'x' }] };
  await server.send('POST', pods, { metadata: { name, labels: { app: 'a' } }, spec });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const { status: code, text } = await server.send('PATCH', `${pods}/${name}/status`, { status }, merge);
  assert.equal(code, 200, text);
}

test('kubectl cordon, uncordon and taint keep pods off a node', { skip }, async () => {
  await kubectl.says([
    ['get nodes', /^NAME +STATUS +ROLES +AGE +VERSION\nn1 +Ready +<none> +\S+ +v1\.36\.2$/],
    ['cordon n1', 'node/n1 cordoned'],
    ['cordon n1', 'node/n1 already cordoned'],
    ['get nodes', /^n1 +Ready,SchedulingDisabled +<none> +\S+ +v1\.36\.2$/m],
    ['uncordon n1', 'node/n1 uncordoned'],
    ['uncordon n1', 'node/n1 already uncordoned'],
    ['cordon n2', 'Error from server (NotFound): nodes "n2" not found'],
    ['taint node n1 a=b:NoSchedule', 'node/n1 tainted'],
    [
      'taint node n1 a=b:NoSchedule',
      'error: node n1 already has a taint(s) with same effect(s) and --overwrite is false',
    ],
    ['taint node n1 a=c:NoSchedule --overwrite', 'node/n1 modified'],
    ['get node n1 -o jsonpath={.spec.taints[?(@.key=="a")].value}', 'c'],
    ['taint node n1 a:NoSchedule-', 'node/n1 untainted'],
    ['taint node n1 a-', 'error: taint "a" not found'],
    ['label node n1 node-role.kubernetes.io/worker=', 'node/n1 labeled'],
    ['get nodes', /^n1 +Ready +worker +\S+ +v1\.36\.2$/m],
  ]);
});

test('kubectl drain evicts what runs on a node, and asks for --force where nobody makes the pods anew', {
  skip,
}, async () => {
  await runOnNode('p1');
  await runOnNode('p2');
  const refused = await kubectl.run('drain n1 --timeout=5s');
  assert.equal(refused.code, 1);
  assert.match(
    refused.output,
    /cannot delete Pods that declare no controller \(use --force to override\): default\/p1, default\/p2/,
  );
  const { code, output } = await kubectl.run('drain n1 --force --grace-period=0 --timeout=60s');
  assert.equal(code, 0, output);
  assert.deepEqual(output.split('\n').sort(), [
    'Warning: deleting Pods that declare no controller: default/p1, default/p2',
    'evicting pod default/p1',
    'evicting pod default/p2',
    'node/n1 already cordoned',
    'node/n1 drained',
    'pod/p1 evicted',
    'pod/p2 evicted',
  ]);
  await kubectl.says([['get pods', 'No resources found in default namespace.']]);
});

test('kubectl drain tries again while a disruption budget forbids, until the budget allows', { skip }, async () => {
  await runOnNode('p3');
  await kubectl.says([
    ['create pdb b --selector=app=a --min-available=1', 'poddisruptionbudget.policy/b created'],
    ['get pdb', /^NAME +MIN AVAILABLE +MAX UNAVAILABLE +ALLOWED DISRUPTIONS +AGE\nb +1 +N\/A +0 +\S+$/],
  ]);
  // As the disruption controller would: until a budget's status is of its generation, evictions are held up by 10 s each.
  const budget = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/b';
  const allow = (disruptionsAllowed: number) => {
    const status = { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1 };
    return server.send('PATCH', `${budget}/status`, { status }, merge);
  };
  await allow(0);
  const draining = kubectl.start('drain n1 --force --grace-period=0 --timeout=60s');
  await draining.said(
    /error when evicting pods\/"p3" -n "default" \(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./,
  );
  await allow(1);
  const { code, output } = await draining.ended;
  assert.equal(code, 0, output);
  assert.match(output, /^node\/n1 drained$/m);
});
