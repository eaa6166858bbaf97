import assert from 'node:assert/strict';
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

const role = (verb: string) => `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [${verb}]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}]
`;
test('kubectl auth reconcile adds rules, and removes them when it is told to', { skip }, async () => {
  const file = await kubectl.file('role.yaml', role('get'));
  const unchanged = 'role.rbac.authorization.k8s.io/r reconciled\nrolebinding.rbac.authorization.k8s.io/rb reconciled';
  await kubectl.says([
    [`auth reconcile -f ${file}`, /^\s+missing rules added:\n\s+\{Verbs:\[get\] APIGroups:\[\] Resources:\[pods\] /m],
    [`auth reconcile -f ${file}`, unchanged],
    ['auth can-i get pods --as=bob', 'yes'],
  ]);
  await kubectl.file('role.yaml', role('list'));
  await kubectl.says([
    [`auth reconcile -f ${file}`, /^\s+missing rules added:$/m],
    [`auth reconcile -f ${file} --remove-extra-permissions`, /^\s+extra rules removed:\n\s+\{Verbs:\[get\] /m],
    ['get role r -o jsonpath={.rules}', '[{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}]'],
  ]);
});

test('kubectl auth tells what one may, and who one is', { skip }, async () => {
  await kubectl.says([
    ['auth can-i --list', /^Resources +Non-Resource URLs +Resource Names +Verbs\n\*\.\* +\[\] +\[\] +\[\*\]$/m],
    ['auth can-i --list --as=eve', /^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m],
    ['auth can-i --list --as=eve', /^ +\[\/version\] +\[\] +\[get\]$/m],
    ['auth can-i * *', 'yes'],
    ['auth can-i get /healthz --as=eve', 'yes'],
    ['auth can-i get pods --subresource=log', 'yes'],
    ['auth whoami -o jsonpath={.status.userInfo.groups}', '["system:masters","system:authenticated"]'],
    // The SHA-256 of the certificate that the client showed.
    ['auth whoami', /^Extra: authentication\.kubernetes\.io\/credential-id +\[X509SHA256=[0-9a-f]{64}\]$/m],
    ['auth whoami --as=eve -o jsonpath={.status.userInfo}', '{"groups":["system:authenticated"],"username":"eve"}'],
  ]);
  const { code, output } = await kubectl.run('auth can-i get secrets --as=eve');
  assert.deepEqual({ code, output }, { code: 1, output: 'no' });
});

test('kubectl get prints in every form that it has', { skip }, async () => {
  await kubectl.says([
    ['run ep --image=x', 'pod/ep created'],
    [
      'get pods --chunk-size=1 -A',
      /^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE\ndefault +ep +0\/1 +Pending +0 +\S+$/,
    ],
    [
      'get ns --chunk-size=1 -o name',
      /^namespace\/default\nnamespace\/kube-node-lease\nnamespace\/kube-public\nnamespace\/kube-system$/,
    ],
    ['get pods --field-selector status.phase=Pending --no-headers', /^ep +0\/1 +Pending +0 +\S+$/],
    ['get pods --field-selector status.phase=Running', 'No resources found in default namespace.'],
    [
      'get pods --field-selector foo=bar',
      'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "foo=bar": field label not supported: foo',
    ],
    [
      'get pods -L run --show-labels',
      /^NAME +READY +STATUS +RESTARTS +AGE +RUN +LABELS\nep +0\/1 +Pending +0 +\S+ +ep +run=ep$/,
    ],
    [
      'get pods -o wide',
      /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\nep +0\/1 +Pending +0 +\S+ +<none> +<none> +<none> +<none>$/,
    ],
    ['get pods -o custom-columns=N:.metadata.name,X:.spec.nope', 'N     X\nep    <none>'],
    ['get pods -o jsonpath={.items[*].spec.containers[0].image}', 'x'],
    ['get pod ep -o yaml', /^apiVersion: v1\nkind: Pod\nmetadata:\n/],
    ['get pods --server-print=false', /^NAME +AGE\nep +\S+$/],
    ['get nope', 'error: the server doesn\'t have a resource type "nope"'],
    ['get pods nope', 'Error from server (NotFound): pods "nope" not found'],
    ['get --raw /readyz', 'ok'],
    [
      'get --raw /api/v1/namespaces/default/configmaps',
      /^\{"kind":"ConfigMapList","apiVersion":"v1","metadata":\{"resourceVersion":"\d+"\},"items":\[\]\}$/,
    ],
    ['get --raw /nope', 'Error from server (NotFound): the server could not find the requested resource'],
    ['logs ep', ''],
    ['exec ep -- ls', 'Error from server (BadRequest): pod ep does not have a host assigned'],
    ['top nodes', 'error: Metrics API not available'],
  ]);
});

test('kubectl events tells what happened, newest last, of one object or one type', { skip }, async () => {
  const firstTimestamp = '2026-01-01T00:00:00Z';
  const of = (name: string, reason: string, type: string) => ({
    metadata: { name: `${name}.${reason.toLowerCase()}`, namespace: 'default' },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name, namespace: 'default' },
    ...{ reason, type, message: 'it was so', count: 3, firstTimestamp, lastTimestamp: firstTimestamp },
  });
  await kubectl.says([['events', 'No events found in default namespace.']]);
  for (const event of [of('one', 'Made', 'Normal'), of('two', 'Broke', 'Warning')]) {
    assert.equal((await server.send('POST', '/api/v1/namespaces/default/events', event)).status, 201);
  }
  await kubectl.says([
    [
      'events --for pod/one',
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\S+ \(x3 over \S+\) +Normal +Made +Pod\/one +it was so$/,
    ],
    [
      'events --types=Warning',
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\S+ \(x3 over \S+\) +Warning +Broke +Pod\/two +it was so$/,
    ],
    [
      'get events --field-selector type=Normal',
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n.* +Normal +Made +pod\/one +it was so$/,
    ],
  ]);
});

test('kubectl tells of kinds, versions, tokens and its own configuration', { skip }, async () => {
  await kubectl.says([
    [
      'explain deployment.spec.strategy --recursive',
      /FIELDS:\n {2}rollingUpdate\t<RollingUpdateDeployment>\n {4}maxSurge\t<IntOrString>\n {4}maxUnavailable\t<IntOrString>\n {2}type\t<string>/,
    ],
    ['explain pod.nope', /error: field "nope" does not exist$/],
    ['api-versions', /^authorization\.k8s\.io\/v1\nautoscaling\/v1\nautoscaling\/v2\nbatch\/v1$/m],
    [
      'api-resources --api-group=batch --no-headers',
      /^cronjobs +cj +batch\/v1 +true +CronJob\njobs +batch\/v1 +true +Job$/,
    ],
    ['config view --minify -o jsonpath={.clusters[0].cluster.server}', server.url],
    ['cluster-info', /^Kubernetes control plane is running at https:\/\/127\.0\.0\.1:\d+$/m],
    ['create token default --duration=10m', /^[\w-]+\.[\w-]+\.[\w-]+$/],
    ['create token nope', 'error: failed to create token: serviceaccounts "nope" not found'],
  ]);
});
