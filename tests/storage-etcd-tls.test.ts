import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { PlaneProcess } from './plane-process.js';
import { type EtcdTls, etcdMissing, RealEtcd } from './real-etcd.js';

const only = ['--no-node', '--no-controllers', '--operators', 'none'];
const secret = (name: string) =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: default}\nstringData: {word: mellon}\n`;

describe('an etcd that asks for certificates, with secrets encrypted', { skip: etcdMissing }, () => {
  /** Has an authority, and certificates of it for 127.0.0.1 and for a client. */
  let issuer: PlaneProcess;
  let etcd: RealEtcd;
  let plane: PlaneProcess;
  let files: readonly string[];
  let configuration: string;

  before(async () => {
    issuer = await PlaneProcess.create();
    await issuer.up(only);
    const pki = (name: string) => join(issuer.directory, 'pki', name);
    const tls: EtcdTls = {
      caFile: pki('ca.crt'),
      serverCertificate: pki('server.crt'),
      serverKey: pki('server.key'),
      clientCertificate: pki('admin.crt'),
      clientKey: pki('admin.key'),
    };
    etcd = await RealEtcd.start(tls);
    files = [
      ...['--storage', `etcd://${etcd.endpoint}`, '--etcd-cafile', tls.caFile],
      ...['--etcd-certfile', tls.clientCertificate, '--etcd-keyfile', tls.clientKey],
    ];
    plane = await PlaneProcess.create();
    configuration = join(plane.directory, 'encryption.yaml');
    await writeFile(configuration, encryptionWith('one'));
  });
  after(async () => {
    await plane?.remove();
    await etcd?.remove();
    await issuer?.remove();
  });

  test('what a plane writes there is sealed, and the options are remembered', async () => {
    await plane.up([...only, ...files, '--encryption-provider-config', configuration]);
    await plane.apply({ text: secret('first') });
    assert.match(await stored('first'), /^k8s:enc:secretbox:v1:one:/);
    // The keys that planes share are as secret.
    const shared = (await etcd.etcdctl(['get', '--print-value-only', '/castellan/shared'])).stdout;
    assert.match(shared, /^k8s:enc:secretbox:v1:one:/);
    await plane.interrupt();
    await plane.up(only);
    await plane.apply({ text: secret('second') });
    assert.match(await stored('second'), /^k8s:enc:secretbox:v1:one:/);
  });

  test('without the key the plane does not start, and says which one it needs', async () => {
    await plane.interrupt();
    await writeFile(configuration, encryptionWith('two'));
    await assert.rejects(plane.up(only), /encrypted by secretbox:v1 with the key "one", which is not configured/);
    await writeFile(configuration, encryptionWith('two', 'one'));
    await plane.up(only);
    await rm(configuration);
  });

  const stored = async (name: string) =>
    (await etcd.etcdctl(['get', '--print-value-only', `/registry/secrets/default/${name}`])).stdout;
});

function encryptionWith(...names: readonly string[]): string {
  const keys = names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') }));
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ secretbox: { keys } }] }],
  });
}
