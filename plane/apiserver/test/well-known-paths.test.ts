import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

test('health is asked for as a whole, with its checks by name, one check alone, and without some', async () => {
  const text = async (path: string) => {
    const { status, text: body, headers } = await server.send('GET', path);
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    return [status, body];
  };
  assert.deepEqual(await text('/livez'), [200, 'ok']);
  assert.deepEqual(await text('/livez?verbose'), [
    200,
    [
      '[+]ping ok',
      '[+]etcd ok',
      '[+]poststarthook/start-system-namespaces-controller ok',
      '[+]poststarthook/scheduling/bootstrap-system-priority-classes ok',
      'livez check passed\n',
    ].join('\n'),
  ]);
  assert.deepEqual(await text('/livez/etcd'), [200, 'ok']);
  assert.deepEqual(await text('/readyz/poststarthook/storage-readiness'), [200, 'ok']);
  assert.deepEqual(await text('/readyz/nosuch'), [404, '404 page not found\n']);
  const [, excluded] = await text('/readyz?verbose&exclude=ping&exclude=nosuch');
  assert.match(String(excluded), /^\[\+\]ping excluded: ok\n/);
  assert.match(
    String(excluded),
    /\nwarn: some health checks cannot be excluded: no matches for "nosuch"\nreadyz check passed\n$/,
  );
});

test('the issuer of tokens tells where its keys are, and a token verifies with them', async () => {
  const { json: configuration } = await server.send('GET', '/.well-known/openid-configuration');
  assert.deepEqual(configuration, {
    issuer: 'https://kubernetes.default.svc.cluster.local',
    jwks_uri: `${server.url}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
  const keys = await server.send('GET', '/openid/v1/jwks');
  assert.equal(keys.headers['content-type'], 'application/jwk-set+json');
  const [jwk] = keys.json.keys;
  const issued = await server.send('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['somebody'] },
  });
  const [head, claims, signature] = issued.json.status.token.split('.');
  const key = await crypto.subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  const signed = Buffer.from(`${head}.${claims}`);
  assert.equal(await crypto.subtle.verify(algorithm, key, Buffer.from(signature, 'base64url'), signed), true);
  assert.equal(JSON.parse(Buffer.from(head, 'base64url').toString()).kid, jwk.kid);
});

test('the version is one that clients parse as a release', async () => {
  const { json } = await server.send('GET', '/version');
  assert.match(json.gitVersion, /^v1\.36\.\d+$/);
  assert.equal(`${json.major}.${json.minor}`, '1.36');
});

test('metrics tell requests by verb, kind and status, and what is stored', async () => {
  await server.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'counted' } });
  await server.send('GET', '/api/v1/namespaces/default/configmaps/absent');
  const { status, headers, text } = await server.send('GET', '/metrics');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const lines = text.split('\n');
  const configMaps = (verb: string, scope: string) =>
    `group="",resource="configmaps",scope="${scope}",subresource="",verb="${verb}",version="v1"`;
  assert.ok(lines.includes(`apiserver_request_total{code="201",${configMaps('CREATE', 'namespace')}} 1`));
  assert.ok(lines.includes(`apiserver_request_total{code="404",${configMaps('GET', 'resource')}} 1`));
  assert.ok(lines.includes(`apiserver_request_duration_seconds_count{${configMaps('GET', 'resource')}} 1`));
  assert.ok(lines.includes('apiserver_storage_objects{resource="configmaps"} 1'));
  assert.ok(lines.includes('apiserver_current_inflight_requests{request_kind="mutating"} 0'));
  assert.ok(lines.every((line) => /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? -?[\d.e+-]+|)$/.test(line)));
});
