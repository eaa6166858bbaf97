import { after, before, test } from 'node:test';
import { type KubectlSession, kubectlSession, withoutKubectl } from './kubectl-session.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const skip = withoutKubectl;
let server: ServerUnderTest;
let kubectl: KubectlSession;
before(async () => {
  server = await startServer();
  kubectl = await kubectlSession(server);
});
after(() => server.stop());

test('kubectl delete --cascade leaves the finalizer by which the garbage collector knows what to do', {
  skip,
}, async () => {
  const finalizers = 'get deploy d -o jsonpath={.metadata.finalizers}';
  await kubectl.says([
    ['create deploy d --image=x', 'deployment.apps/d created'],
    ['delete deploy d --cascade=orphan --wait=false', 'deployment.apps "d" deleted'],
    [finalizers, '["orphan"]'],
    [
      'create deploy d --image=x',
      'error: failed to create deployment: object is being deleted: deployments.apps "d" already exists',
    ],
    ['delete deploy d --cascade=foreground --wait=false', 'deployment.apps "d" deleted'],
    [finalizers, '["foregroundDeletion"]'],
    ['patch deploy d --type=merge -p {"metadata":{"finalizers":null}}', 'deployment.apps/d patched'],
    ['delete deploy d --ignore-not-found', ''],
    ['delete deploy d', 'Error from server (NotFound): deployments.apps "d" not found'],
  ]);
});

test('kubectl delete waits for what finalizers hold, as long as it may', { skip }, async () => {
  const path = '/api/v1/namespaces/default/configmaps/held';
  const held = { metadata: { name: 'held', finalizers: ['example.com/f'] } };
  await server.send('POST', '/api/v1/namespaces/default/configmaps', held);
  await kubectl.says([
    [
      'delete cm held --timeout=1s',
      'configmap "held" deleted\nerror: timed out waiting for the condition on configmaps/held',
    ],
  ]);
  const waiting = kubectl.start('delete cm held --timeout=60s');
  await waiting.said(/configmap "held" deleted/);
  await server.send(
    'PATCH',
    path,
    { metadata: { finalizers: null } },
    { 'content-type': 'application/merge-patch+json' },
  );
  await waiting.ended;
  await kubectl.says([['get cm held', 'Error from server (NotFound): configmaps "held" not found']]);
});

test('kubectl delete finds what to delete by name, label, field and kind', { skip }, async () => {
  await kubectl.says([
    ['create ns n', 'namespace/n created'],
    ['-n n create cm a', 'configmap/a created'],
    ['-n n create cm b', 'configmap/b created'],
    ['-n n create cm c', 'configmap/c created'],
    ['-n n create cm d', 'configmap/d created'],
    ['-n n label cm b x=y', 'configmap/b labeled'],
    ['-n n delete cm -l x=y', 'configmap "b" deleted'],
    ['-n n delete cm -l x=y', 'No resources found'],
    ['-n n delete cm --field-selector metadata.name=c', 'configmap "c" deleted'],
    ['-n n delete cm a nope', 'configmap "a" deleted\nError from server (NotFound): configmaps "nope" not found'],
    ['-n n delete cm --all --dry-run=server', 'configmap "d" deleted (server dry run)'],
    ['-n n delete cm --all', 'configmap "d" deleted'],
    ['-n n get cm', 'No resources found in n namespace.'],
    [
      'delete ns default',
      'Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted',
    ],
  ]);
});

test('kubectl delete --grace-period says how long a pod on a node has, and --force takes it away at once', {
  skip,
}, async () => {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'x' }] };
  for (const name of ['slow', 'now']) {
    const made = await server.send('POST', '/api/v1/namespaces/default/pods', { metadata: { name }, spec });
    if (made.status !== 201) throw new Error(made.text);
  }
  const grace = (name: string) => `get pod ${name} -o jsonpath={.metadata.deletionGracePeriodSeconds}`;
  const forced =
    'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. ' +
    'The resource may continue to run on the cluster indefinitely.';
  await kubectl.says([
    ['delete pod slow --grace-period=7 --wait=false', 'pod "slow" deleted'],
    [grace('slow'), '7'],
    ['get pod slow', /^slow +0\/1 +Terminating +0 +\S+$/m],
    ['delete pod now --now --wait=false', 'pod "now" deleted'],
    [grace('now'), '1'],
    ['delete pods --all --grace-period=0 --force', /^pod "now" force deleted\npod "slow" force deleted$/m],
    ['get pods', 'No resources found in default namespace.'],
  ]);
  await server.send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'now' }, spec });
  await kubectl.says([['delete pod now --grace-period=0 --force', `${forced}\npod "now" force deleted`]]);
});
