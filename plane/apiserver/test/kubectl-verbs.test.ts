import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { kubectlProgram } from './kubectl-program.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const program = kubectlProgram('kubectl');
const skip = program === undefined ? 'no kubectl is on this machine' : false;
let server: ServerUnderTest;
before(async () => {
  server = await startServer();
  await writeFile(join(server.directory, 'config'), server.kubeconfig);
});
after(() => server.stop());

/** What kubectl prints on either output. */
function kubectl(line: string, ...more: readonly string[]): Promise<string> {
  const args = ['--kubeconfig', join(server.directory, 'config'), ...line.split(' '), ...more];
  return new Promise((resolve) => {
    const env = { ...process.env, HOME: server.directory };
    execFile(program ?? '', args, { env, timeout: 30_000 }, (_error, stdout, stderr) =>
      resolve((stdout + stderr).trimEnd()),
    );
  });
}

test('kubectl create makes an object of every kind that it has a command for', { skip }, async () => {
  const commands: readonly (readonly [command: string, made: string])[] = [
    ['create ns team', 'namespace/team'],
    ['create cm c --from-literal=a=1', 'configmap/c'],
    ['create secret generic s --from-literal=p=x', 'secret/s'],
    ['create secret docker-registry dr --docker-username=a --docker-password=b', 'secret/dr'],
    ['create deployment made --image=x --replicas=2', 'deployment.apps/made'],
    ['create job j --image=x', 'job.batch/j'],
    ['create service clusterip ci --tcp=80:8080', 'service/ci'],
    ['create service nodeport np --tcp=80', 'service/np'],
    ['create service externalname en --external-name=a.b', 'service/en'],
    ['create sa robot', 'serviceaccount/robot'],
    ['create role r --verb=get --resource=pods', 'role.rbac.authorization.k8s.io/r'],
    ['create rolebinding rb --role=r --user=u', 'rolebinding.rbac.authorization.k8s.io/rb'],
    ['create clusterrole cr --verb=get --resource=nodes', 'clusterrole.rbac.authorization.k8s.io/cr'],
    ['create clusterrolebinding crb --clusterrole=cr --user=u', 'clusterrolebinding.rbac.authorization.k8s.io/crb'],
    ['create quota q --hard=pods=5', 'resourcequota/q'],
    ['create pdb p --selector=app=d --min-available=1', 'poddisruptionbudget.policy/p'],
    ['create priorityclass pc --value=10', 'priorityclass.scheduling.k8s.io/pc'],
    ['create ingress i --rule=a.b/=ci:80', 'ingress.networking.k8s.io/i'],
  ];
  for (const [command, made] of commands) assert.equal(await kubectl(command), `${made} created`);
  assert.match(await kubectl('create token robot'), /^[\w-]+\.[\w-]+\.[\w-]+$/);
});

test('kubectl changes a Deployment by each of its commands, and says what it did', { skip }, async () => {
  assert.equal(await kubectl('create deployment d --image=x --replicas=2'), 'deployment.apps/d created');
  const commands: readonly (readonly [command: string, said: string])[] = [
    ['label deploy d x=y', 'deployment.apps/d labeled'],
    ['label deploy d x=z', "error: 'x' already has a value (y), and --overwrite is false"],
    ['label deploy d x-', 'deployment.apps/d unlabeled'],
    ['annotate deploy d a=b', 'deployment.apps/d annotated'],
    ['scale deploy d --replicas=3', 'deployment.apps/d scaled'],
    ['set image deploy/d x=y:2', 'deployment.apps/d image updated'],
    ['set env deploy/d A=b', 'deployment.apps/d env updated'],
    ['set resources deploy/d --limits=cpu=1', 'deployment.apps/d resource requirements updated'],
    ['autoscale deploy d --max=3', 'horizontalpodautoscaler.autoscaling/d autoscaled'],
    ['expose deploy d --port=80 --name=exposed', 'service/exposed exposed'],
    ['rollout pause deploy/d', 'deployment.apps/d paused'],
    ['rollout resume deploy/d', 'deployment.apps/d resumed'],
    ['rollout restart deploy/d', 'deployment.apps/d restarted'],
    ['rollout history deploy/d', 'deployment.apps/d \nNo rollout history found.'],
    ['patch deploy d -p {"spec":{"replicas":1}}', 'deployment.apps/d patched'],
    ['patch deploy d --type=json -p [{"op":"replace","path":"/spec/replicas","value":4}]', 'deployment.apps/d patched'],
    ['patch deploy d --type=merge -p {"spec":{"replicas":4}}', 'deployment.apps/d patched (no change)'],
    ['wait --for=jsonpath={.spec.replicas}=4 deploy/d --timeout=5s', 'deployment.apps/d condition met'],
    ['get deploy d -o custom-columns=N:.metadata.name,R:.spec.replicas', 'N     R\nd     4'],
    ['get deploy d -o jsonpath={.spec.template.spec.containers[0].image}', 'y:2'],
    ['get deploy d -o name', 'deployment.apps/d'],
  ];
  for (const [command, said] of commands) assert.equal(await kubectl(command), said, command);
  assert.match(await kubectl('get deploy d -o wide'), /^NAME\s+READY\s+UP-TO-DATE\s+AVAILABLE\s+AGE\s+CONTAINERS/);
});

test('kubectl tells what the server has, and who asks', { skip }, async () => {
  assert.match(await kubectl('explain pod.spec.containers'), /List of containers belonging to the pod\./);
  assert.match(await kubectl('explain deployment.spec.paused'), /Indicates that the deployment is paused\./);
  assert.match(await kubectl('api-resources'), /^configmaps\s+cm\s+v1\s+true\s+ConfigMap$/m);
  assert.match(await kubectl('api-versions'), /^apps\/v1$/m);
  assert.match(await kubectl('auth whoami'), /^Groups\s+\[system:masters system:authenticated\]$/m);
  assert.match(await kubectl('auth can-i --list'), /^\*\.\*\s+\[\]\s+\[\]\s+\[\*\]$/m);
  assert.equal((await kubectl('auth can-i create pods --as=bob')).split('\n')[0], 'no');
  assert.match(await kubectl('cluster-info'), /^Kubernetes control plane is running at https:/);
  assert.match(await kubectl('version'), /^Server Version: v1\.36\.2$/m);
  assert.equal(await kubectl('top pods'), 'error: Metrics API not available');
});
