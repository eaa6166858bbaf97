import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type KubectlSession, kubectlSession, withoutKubectl } from './kubectl-session.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const skip = withoutKubectl;
const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };
let server: ServerUnderTest;
let kubectl: KubectlSession;
before(async () => {
  server = await startServer();
  kubectl = await kubectlSession(server);
});
after(() => server.stop());

test('kubectl get -w prints the state and then each change, --watch-only the changes alone', { skip }, async () => {
  await server.send('POST', configMaps, { metadata: { name: 'z1' } });
  const watches = [
    kubectl.start('get cm -w'),
    kubectl.start('get cm -w --output-watch-events'),
    kubectl.start('get cm z1 -w -o name'),
  ];
  for (const watching of watches) await watching.said(/z1/);
  const only = kubectl.start('get cm --watch-only --output-watch-events');
  // It says nothing before the first change: changes are made until it has begun to see them.
  let round = 0;
  const seen = only.said(/MODIFIED/).then(() => true);
  while (!(await Promise.race([seen, new Promise((resolve) => setTimeout(resolve, 50, false))]))) {
    round += 1;
    await server.send('PATCH', `${configMaps}/z1`, { data: { round: String(round) } }, merge);
  }
  await server.send('POST', configMaps, { metadata: { name: 'z2' }, data: { a: 'b' } });
  await server.send('DELETE', `${configMaps}/z2`);
  const [plain, events, name] = watches;
  assert.match(
    (await plain?.said(/z2.*\n.*z2/)) ?? '',
    /^NAME +DATA +AGE\nz1 +0 +\S+\n(z1 +1 +\S+\n)+z2 +1 +\S+\nz2 +1 /,
  );
  assert.match(
    (await events?.said(/DELETED.*\n/)) ?? '',
    /^EVENT +NAME +DATA +AGE\nADDED +z1 +0 +\S+\n(MODIFIED +z1 +1 +\S+\n)+ADDED +z2 +1 +\S+\nDELETED +z2 +1 +\S+\n$/,
  );
  assert.match((await name?.said(/z1\nconfigmap\/z1\n/)) ?? '', /^(configmap\/z1\n)+$/);
  assert.match(
    await only.said(/DELETED.*\n/),
    /^EVENT +NAME +DATA +AGE\n(MODIFIED +z1 +1 +\S+\n)+ADDED +z2 +1 +\S+\nDELETED +z2 +1 +\S+\n$/,
  );
  for (const each of [...watches, only]) each.stop();
  await Promise.all([...watches, only].map(({ ended }) => ended));
});

test('kubectl wait ends when a condition, a field, or the deletion comes', { skip }, async () => {
  await kubectl.says([['create deploy w --image=x', 'deployment.apps/w created']]);
  const path = '/apis/apps/v1/namespaces/default/deployments/w';
  const waiting = [
    kubectl.run('wait --for=condition=Available deploy/w --timeout=60s'),
    kubectl.run('wait --for=condition=Available=False deploy/w --timeout=60s'),
    kubectl.run('wait --for=jsonpath={.status.replicas}=2 deploy/w --timeout=60s'),
  ];
  const [available, unavailable, replicas] = waiting;
  const available_ = (status: string) => ({ conditions: [{ type: 'Available', status, reason: 'r', message: 'm' }] });
  await server.send('PATCH', `${path}/status`, { status: { replicas: 2, ...available_('False') } }, merge);
  const met = { code: 0, output: 'deployment.apps/w condition met' };
  assert.deepEqual(await unavailable, met);
  assert.deepEqual(await replicas, met);
  await server.send('PATCH', `${path}/status`, { status: available_('True') }, merge);
  assert.deepEqual(await available, met);
  const deleted = kubectl.start('wait --for=delete deploy/w --timeout=60s -v=6');
  // What is gone before it looks is no deletion to it.
  await deleted.said(/watch=true/);
  await server.send('DELETE', path);
  const { code, output } = await deleted.ended;
  assert.equal(code, 0, output);
  assert.match(output, /^deployment\.apps\/w condition met$/m);
});

test('kubectl wait gives up at its timeout, and on what is not there', { skip }, async () => {
  await kubectl.says([
    ['run idle --image=x', 'pod/idle created'],
    ['wait --for=condition=Ready pod/idle --timeout=1s', 'error: timed out waiting for the condition on pods/idle'],
    ['wait --for=delete pod/idle --timeout=1s', 'error: timed out waiting for the condition on pods/idle'],
    ['wait --for=condition=Ready pod/nope --timeout=1s', 'Error from server (NotFound): pods "nope" not found'],
    ['wait --for=delete pod/nope --timeout=1s', ''],
    ['wait --for=condition=Ready pods -l run=nope --timeout=1s', 'error: no matching resources found'],
  ]);
});
