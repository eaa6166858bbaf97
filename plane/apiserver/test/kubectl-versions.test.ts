import { after, before, test } from 'node:test';
import { kubectlProgram } from './kubectl-program.js';
import { kubectlSession } from './kubectl-session.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

for (const minor of [28, 29, 30, 31, 32, 33, 34, 35, 36]) {
  const name = `kubectl.1.${minor}`;
  const skip = kubectlProgram(name) === undefined ? `${name} is not on this machine` : false;
  test(`${name} scales, labels, patches, pauses, annotates, drains and asks as every other does`, {
    skip,
  }, async () => {
    const kubectl = await kubectlSession(server, name);
    const own = `-n v${minor}`;
    const node = { metadata: { name: `n${minor}` } };
    await server.send('POST', '/api/v1/nodes', node);
    await kubectl.says([
      [`create ns v${minor}`, `namespace/v${minor} created`],
      [`${own} create deploy d --image=x`, 'deployment.apps/d created'],
      [`${own} scale deploy d --replicas=2`, 'deployment.apps/d scaled'],
      [`${own} set image deploy/d x=y`, 'deployment.apps/d image updated'],
      [`${own} label deploy d a=b`, 'deployment.apps/d labeled'],
      [`${own} patch deploy d -p {"spec":{"paused":true}}`, 'deployment.apps/d patched'],
      [`${own} rollout resume deploy/d`, 'deployment.apps/d resumed'],
      [`${own} get deploy d --subresource=scale`, /^NAME +DESIRED +AVAILABLE +AGE\nd +2 +0 +\S+$/],
      [`${own} wait --for=jsonpath={.spec.replicas}=2 deploy/d --timeout=5s`, 'deployment.apps/d condition met'],
      [`${own} delete deploy -l a=b`, /^deployment\.apps "d" deleted/],
      [`drain n${minor}`, `node/n${minor} cordoned\nnode/n${minor} drained`],
      [`uncordon n${minor}`, `node/n${minor} uncordoned`],
      ['auth can-i * *', 'yes'],
      ['explain deployment.spec.paused', /Indicates that the deployment is paused\./],
      ['api-resources --api-group=apps -o name', /^deployments\.apps$/m],
    ]);
  });
}
