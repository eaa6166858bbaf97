import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Pod, StatusError } from '@castellan/machinery';
import { createLog } from '@castellan/runtime';
import { simulatedWorld } from '@castellan/world';
import { SimulatedCluster } from '../../test/simulated-cluster.js';
import { requestToken } from './account-token.js';
import { PodVolumes } from './pod-volumes.js';
import type { VolumeSources } from './projected-files.js';

const directory = mkdtempSync(join(tmpdir(), 'volumes-'));
after(() => rmSync(directory, { recursive: true }));

const pod: Pod = {
  metadata: { name: 'a', namespace: 'default', uid: 'u1' },
  spec: {
    serviceAccountName: 'runner',
    containers: [{ name: 'main' }],
    volumes: [
      {
        name: 'access',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token', expirationSeconds: 1000 } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
            { configMap: { name: 'openshift-service-ca.crt', items: [{ key: 'service-ca.crt', path: 'x' }] } },
          ],
        },
      },
    ],
  },
};

function sources(token: VolumeSources['token']): VolumeSources {
  const rootCertificate = { metadata: {}, data: { 'ca.crt': 'certificate' } };
  return {
    pod,
    nodeName: 'n',
    hostIp: '10.0.0.1',
    podIp: '10.0.0.2',
    claim: async () => undefined,
    persistentVolume: async () => undefined,
    node: async () => undefined,
    configMap: async (name) => (name === 'kube-root-ca.crt' ? rootCertificate : undefined),
    secret: async () => undefined,
    token,
  };
}

test('a token is replaced at four fifths of its life, all files of its volume at once', async () => {
  const world = simulatedWorld(1);
  const log = createLog({ write: () => undefined, world });
  const volumes = new PodVolumes({ world, log }, join(directory, 'renewed'));
  let issued = 0;
  const given = sources(async ({ expirationSeconds }) => {
    issued += 1;
    return { token: `token ${issued}`, renewAtMs: world.clock.now() + expirationSeconds * 800 };
  });
  await volumes.ensure(given);
  const access = join(directory, 'renewed', 'access');
  const read = (name: string) => readFileSync(join(access, name), 'utf8');
  assert.deepEqual([read('token'), read('ca.crt'), read('namespace')], ['token 1', 'certificate', 'default']);
  assert.equal(existsSync(join(access, 'x')), false);
  assert.equal(statSync(join(directory, 'renewed')).mode & 0o777, 0o700);
  const first = readlinkSync(join(access, '..data'));
  const renewAtMs = await volumes.renew(given);
  assert.equal(renewAtMs, world.clock.now() + 800_000);
  await world.advance(799_999);
  assert.equal(await volumes.renew(given), renewAtMs);
  assert.equal(read('token'), 'token 1');
  await world.advance(1);
  assert.equal(await volumes.renew(given), world.clock.now() + 800_000);
  assert.equal(read('token'), 'token 2');
  assert.equal(readlinkSync(join(access, 'token')), '..data/token');
  assert.equal(existsSync(join(access, first)), false, 'the files before the change are gone');
});

test('a token that cannot be replaced stays, and is tried again', async () => {
  const world = simulatedWorld(1);
  const log = createLog({ write: () => undefined, world });
  const volumes = new PodVolumes({ world, log }, join(directory, 'kept'));
  await volumes.ensure(sources(async () => ({ token: 'first', renewAtMs: world.clock.now() + 10 })));
  await world.advance(10);
  const failing = sources(() => Promise.reject(StatusError.of('ServiceUnavailable', 'no server')));
  assert.equal(await volumes.renew(failing), world.clock.now() + 30_000);
  assert.equal(readFileSync(join(directory, 'kept', 'access', 'token'), 'utf8'), 'first');
});

test('a token is asked for the account of the pod, bound to the pod', async () => {
  const world = simulatedWorld(1);
  const asked: unknown[] = [];
  const client = new SimulatedCluster();
  Object.assign(client, {
    create: async (type: { plural: string }, object: unknown, options: unknown) => {
      asked.push(type.plural, object, options);
      const expirationTimestamp = new Date(world.clock.now() + 1_000_000).toISOString();
      return { metadata: {}, status: { token: 'signed', expirationTimestamp } };
    },
  });
  const issued = await requestToken({ client, world }, pod, { audience: 'vault', expirationSeconds: 3607 });
  assert.deepEqual(issued, { token: 'signed', renewAtMs: world.clock.now() + 800_000 });
  assert.deepEqual(asked, [
    'serviceaccounts',
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace: 'default', name: 'runner' },
      spec: {
        audiences: ['vault'],
        expirationSeconds: 3607,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u1' },
      },
    },
    { subresource: 'token' },
  ]);
});
