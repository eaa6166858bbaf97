import { after, before, test } from 'node:test';
import { type KubectlSession, kubectlSession, withoutKubectl } from './kubectl-session.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const skip = withoutKubectl;
let server: ServerUnderTest;
let kubectl: KubectlSession;
before(async () => {
  server = await startServer();
  kubectl = await kubectlSession(server);
  if (skip === false) await kubectl.says([['create deploy d --image=x', 'deployment.apps/d created']]);
});
after(() => server.stop());

test('kubectl scale holds to --current-replicas, and scales what is there when something is not', {
  skip,
}, async () => {
  await kubectl.says([
    ['scale deploy d --replicas=5', 'deployment.apps/d scaled'],
    ['scale deploy d --current-replicas=4 --replicas=2', 'error: Expected replicas to be 4, was 5'],
    ['scale deploy d --current-replicas=5 --replicas=2', 'deployment.apps/d scaled'],
    [
      'scale deploy d nope --replicas=3',
      'deployment.apps/d scaled\nError from server (NotFound): deployments.apps "nope" not found',
    ],
    ['get deploy d -o jsonpath={.spec.replicas}', '3'],
    ['get deploy d', /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nd +0\/3 +0 +0 +\S+$/],
    ['get deploy d --subresource=status', /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nd +0\/3 +0 +0 +\S+$/],
    ['get deploy d --subresource=scale', /^NAME +DESIRED +AVAILABLE +AGE\nd +3 +0 +\S+$/],
  ]);
});

test('kubectl set changes a template, field by field', { skip }, async () => {
  await kubectl.says([
    ['set image deploy/d x=y:1', 'deployment.apps/d image updated'],
    ['set image deploy/d nope=y', 'error: unable to find container named "nope"'],
    ['set env deploy/d A=b C=d', 'deployment.apps/d env updated'],
    ['set env deploy/d A-', 'deployment.apps/d env updated'],
    ['set env deploy/d --list', '# Deployment d, container x\nC=d'],
    ['set resources deploy/d --requests=cpu=100m', 'deployment.apps/d resource requirements updated'],
    ['set serviceaccount deploy/d robot', 'deployment.apps/d serviceaccount updated'],
    ['get deploy d -o wide', /^d +0\/3 +0 +0 +\S+ +x +y:1 +app=d$/m],
    ['get deploy d -o jsonpath={.spec.template.spec.serviceAccountName}', 'robot'],
  ]);
});

test('kubectl autoscale and expose make what refers to a Deployment', { skip }, async () => {
  await kubectl.says([
    ['autoscale deploy d --min=1 --max=3 --cpu-percent=50', 'horizontalpodautoscaler.autoscaling/d autoscaled'],
    [
      'autoscale deploy d --min=1 --max=3 --cpu-percent=50',
      'Error from server (AlreadyExists): horizontalpodautoscalers.autoscaling "d" already exists',
    ],
    [
      'get hpa',
      /^NAME +REFERENCE +TARGETS +MINPODS +MAXPODS +REPLICAS +AGE\nd +Deployment\/d +cpu: <unknown>\/50% +1 +3 +0 +\S+$/,
    ],
    ['expose deploy d', "error: couldn't find port via --port flag or introspection"],
    ['expose deploy d --port=80', 'service/d exposed'],
    ['expose deploy d --port=80', 'Error from server (AlreadyExists): services "d" already exists'],
    [
      'get svc d -o wide',
      /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +SELECTOR\nd +ClusterIP +[\d.]+ +<none> +80\/TCP +\S+ +app=d$/,
    ],
    ['set selector svc d a=b', 'service/d selector updated'],
  ]);
});

test('kubectl rollout pauses and restarts, and waits for controllers that do not run', { skip }, async () => {
  await kubectl.says([
    [
      'rollout status deploy/d --timeout=3s',
      'Waiting for deployment spec update to be observed...\nerror: timed out waiting for the condition',
    ],
    ['rollout history deploy/d', 'deployment.apps/d \nNo rollout history found.'],
    ['rollout undo deploy/d', 'error: no rollout history found for deployment "d"'],
    ['rollout restart deploy/d', 'deployment.apps/d restarted'],
    ['rollout pause deploy/d', 'deployment.apps/d paused'],
    ['rollout pause deploy/d', 'error: deployments.apps "d" is already paused'],
    [
      'rollout restart deploy/d',
      'error: deployments.apps "d" can\'t restart paused deployment (run rollout resume first)',
    ],
    ['rollout resume deploy/d', 'deployment.apps/d resumed'],
    ['rollout status deploy/nope', 'Error from server (NotFound): deployments.apps "nope" not found'],
  ]);
});

test('kubectl rollout status ends when the status says that all replicas are new', { skip }, async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments/d';
  const { metadata, spec } = (await server.send('GET', path)).json;
  const { replicas } = spec;
  const status = {
    observedGeneration: metadata.generation,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas - 1,
  };
  const write = (change: object) =>
    server.send('PATCH', `${path}/status`, { status: change }, { 'content-type': 'application/merge-patch+json' });
  await write(status);
  const waiting = kubectl.start('rollout status deploy/d --timeout=60s');
  await waiting.said(/Waiting for deployment "d" rollout to finish: 2 of 3 updated replicas are available/);
  await write({ availableReplicas: replicas });
  await waiting.said(/deployment "d" successfully rolled out/);
  await waiting.ended;
});
