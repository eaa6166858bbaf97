import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { kubectlSession, withoutKubectl } from './kubectl-session.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

test('kubectl certificate approves and denies, once', { skip: withoutKubectl }, async () => {
  const kubectl = await kubectlSession(server);
  const path = join(kubectl.directory, 'request.pem');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${path}.key`];
  await promisify(execFile)('openssl', ['req', '-new', ...key, '-subj', '/CN=eve', '-out', path], { timeout: 20_000 });
  const request = (await readFile(path)).toString('base64');
  for (const name of ['good', 'bad']) {
    const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
    const body = { metadata: { name }, spec };
    const made = await server.send('POST', '/apis/certificates.k8s.io/v1/certificatesigningrequests', body);
    if (made.status !== 201) throw new Error(made.text);
  }
  const row = (name: string, condition: string) =>
    new RegExp(`^${name} +\\S+ +kubernetes\\.io/kube-apiserver-client +\\S+ +<none> +${condition}$`, 'm');
  await kubectl.says([
    ['get csr', /^NAME +AGE +SIGNERNAME +REQUESTOR +REQUESTEDDURATION +CONDITION$/m],
    ['get csr', row('good', 'Pending')],
    ['certificate approve good', 'certificatesigningrequest.certificates.k8s.io/good approved'],
    ['certificate deny good', 'error: certificate signing request "good" is already Approved'],
    ['certificate deny bad', 'certificatesigningrequest.certificates.k8s.io/bad denied'],
    [
      'certificate approve nope',
      'Error from server (NotFound): certificatesigningrequests.certificates.k8s.io "nope" not found',
    ],
    ['get csr', row('good', 'Approved')],
    ['get csr', row('bad', 'Denied')],
  ]);
});
