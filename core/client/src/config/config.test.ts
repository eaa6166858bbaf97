import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inClusterConfig } from './in-cluster.js';
import { loadKubeconfig } from './kubeconfig.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const kubeconfig = `apiVersion: v1
kind: Config
current-context: here
clusters:
- name: one
  cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: ${base64('CA')}}
- name: two
  cluster: {server: "https://two:6443", certificate-authority: ca.crt, insecure-skip-tls-verify: true}
users:
- name: admin
  user: {client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}}
- name: bearer
  user: {token: secret}
- name: plugin
  user: {exec: {command: aws}}
contexts:
- name: here
  context: {cluster: one, user: admin, namespace: prod}
- name: there
  context: {cluster: two, user: bearer}
- name: cloud
  context: {cluster: one, user: plugin}
- name: lost
  context: {cluster: three, user: admin}
`;

async function inDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'client-config-'));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('takes the current context of a kubeconfig, or the one that is named', async () => {
  assert.deepEqual(await loadKubeconfig(kubeconfig), {
    server: 'https://127.0.0.1:6443',
    caCertificate: 'CA',
    clientCertificate: 'CERT',
    clientKey: 'KEY',
    namespace: 'prod',
  });
  await inDirectory(async (directory) => {
    const path = join(directory, 'kubeconfig');
    await writeFile(path, kubeconfig);
    await writeFile(join(directory, 'ca.crt'), 'CA2');
    assert.deepEqual(await loadKubeconfig(path, 'there'), {
      server: 'https://two:6443',
      caCertificate: 'CA2',
      token: 'secret',
      insecureSkipTlsVerify: true,
    });
  });
});

test('says what is wrong with a kubeconfig, and what there is instead', async () => {
  const cases: readonly (readonly [string, string | undefined, RegExp])[] = [
    [kubeconfig, 'nowhere', /no context "nowhere"; its contexts are: "here", "there", "cloud", "lost"/],
    [kubeconfig, 'lost', /no cluster "three"; its clusters are: "one", "two"/],
    [kubeconfig, 'cloud', /user "plugin".* "exec", which is not supported/],
    ['a: [1\n', undefined, /is not YAML/],
    ['a: 1\n', undefined, /no current-context/],
    ['/nowhere/kubeconfig', undefined, /\/nowhere\/kubeconfig cannot be read.*ENOENT/],
  ];
  for (const [text, context, message] of cases) {
    await assert.rejects(loadKubeconfig(text, context), { name: 'ConfigError', message });
  }
});

test('a pod finds the server in its environment and its token in the mounted directory', async () => {
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  await inDirectory(async (directory) => {
    for (const [name, text] of Object.entries({ token: 'TOKEN', 'ca.crt': 'CA', namespace: 'prod\n' })) {
      await writeFile(join(directory, name), text);
    }
    assert.deepEqual(await inClusterConfig({ directory, environment }), {
      server: 'https://[fd00::1]:443',
      caCertificate: 'CA',
      tokenFile: join(directory, 'token'),
      namespace: 'prod',
    });
  });
  await assert.rejects(inClusterConfig({ environment: {} }), { name: 'ConfigError', message: /does not run in a pod/ });
  await assert.rejects(inClusterConfig({ directory: '/nowhere', environment }), { name: 'ConfigError' });
});
