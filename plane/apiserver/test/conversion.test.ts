import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

// biome-ignore lint/suspicious/noExplicitAny: objects of tests have every shape
type Anything = any;

let server: ServerUnderTest;
let hooks: Server;
let hookUrl: string;
/** What the webhook makes of one object. */
let convert: (object: Anything, apiVersion: string) => unknown;
/** The number of objects in each review that was asked for. */
let asked: number[] = [];

/** v1 has `spec.host`, v2 has `spec.hosts`. */
function convertHosts({ spec, ...object }: Anything, apiVersion: string) {
  const isLater = apiVersion.endsWith('/v2');
  return { ...object, apiVersion, spec: isLater ? { hosts: [spec.host] } : { host: spec.hosts[0] } };
}

before(async () => {
  server = await startServer();
  const { serverKey, serverCertificate } = server.certificates;
  hooks = createServer({ key: serverKey, cert: serverCertificate }, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const review = JSON.parse(body);
      const { uid, objects, desiredAPIVersion } = review.request;
      asked.push(objects.length);
      const convertedObjects = objects.map((object: Anything) => convert(object, desiredAPIVersion));
      const refusal = convertedObjects.find((each: unknown) => typeof each === 'string');
      const result = refusal === undefined ? { status: 'Success' } : { status: 'Failed', message: refusal };
      response.end(JSON.stringify({ ...review, request: undefined, response: { uid, result, convertedObjects } }));
    });
  });
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
  const address = hooks.address();
  assert.ok(typeof address === 'object' && address !== null);
  hookUrl = `https://127.0.0.1:${address.port}`;
});

after(async () => {
  hooks.closeAllConnections();
  hooks.close();
  await server.stop();
});

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const text = { type: 'string' };

function definitionWith(group: string, conversion: object) {
  const version = (name: string, spec: object) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `sites.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'sites', kind: 'Site' },
      conversion,
      versions: [
        version('v1', { type: 'object', properties: { host: text } }),
        version('v2', { type: 'object', properties: { hosts: { type: 'array', items: text } } }),
      ],
    },
  };
}

function webhook(url = hookUrl) {
  const caBundle = Buffer.from(server.certificates.caCertificate).toString('base64');
  return { strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v9', 'v1'] } };
}

/** Sites of a group of the test's own, by version. */
async function define(group: string, url?: string) {
  convert = convertHosts;
  asked = [];
  const reply = await server.send('POST', definitions, definitionWith(group, webhook(url)));
  assert.equal(reply.status, 201, reply.text);
  return (version: string) => `/apis/${group}/${version}/sites`;
}

function site(group: string, version: string, name: string, spec: object) {
  return { apiVersion: `${group}/${version}`, kind: 'Site', metadata: { name }, spec };
}

test('CR4 an object is written and read in each version as the webhook converts it', async () => {
  const group = 'read.example.com';
  const sites = await define(group);
  const created = await server.send('POST', sites('v2'), site(group, 'v2', 'a', { hosts: ['x'] }));
  assert.equal(created.status, 201, created.text);
  assert.deepEqual([created.json.apiVersion, created.json.spec], [`${group}/v2`, { hosts: ['x'] }]);
  const { json: stored } = await server.send('GET', `${sites('v1')}/a`);
  assert.deepEqual([stored.apiVersion, stored.spec], [`${group}/v1`, { host: 'x' }]);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const patched = await server.send('PATCH', `${sites('v2')}/a`, { spec: { hosts: ['y'] } }, merge);
  assert.deepEqual(patched.json.spec, { hosts: ['y'] });
  assert.equal(patched.json.metadata.generation, 2);
  assert.deepEqual((await server.send('GET', `${sites('v1')}/a`)).json.spec, { host: 'y' });
});

test('a list is converted by one review, and what has the version already is not sent', async () => {
  const group = 'list.example.com';
  const sites = await define(group);
  for (const name of ['a', 'b', 'c']) {
    await server.send('POST', sites('v1'), site(group, 'v1', name, { host: name }));
  }
  assert.deepEqual(asked, []);
  const { json } = await server.send('GET', sites('v2'));
  assert.deepEqual(
    json.items.map((item: Anything) => item.spec.hosts),
    [['a'], ['b'], ['c']],
  );
  assert.deepEqual(asked, [3]);
});

test('CR4 a watch tells the state and each change as the webhook converts it', async () => {
  const group = 'watch.example.com';
  const sites = await define(group);
  await server.send('POST', sites('v1'), site(group, 'v1', 'a', { host: 'x' }));
  const watch = server.watch(`${sites('v2')}?watch=true`);
  const told = async () => {
    const { type, object } = await watch.next();
    return [type, object.apiVersion, object.spec];
  };
  assert.deepEqual(await told(), ['ADDED', `${group}/v2`, { hosts: ['x'] }]);
  const merge = { 'content-type': 'application/merge-patch+json' };
  await server.send('PATCH', `${sites('v1')}/a`, { spec: { host: 'y' } }, merge);
  assert.deepEqual(await told(), ['MODIFIED', `${group}/v2`, { hosts: ['y'] }]);
  await server.send('DELETE', `${sites('v1')}/a`);
  assert.deepEqual(await told(), ['DELETED', `${group}/v2`, { hosts: ['y'] }]);
  watch.close();
});

test('CR5 a webhook may change labels and annotations, and nothing else of the metadata', async () => {
  const group = 'meta.example.com';
  const sites = await define(group);
  await server.send('POST', sites('v1'), site(group, 'v1', 'a', { host: 'x' }));
  convert = (object, apiVersion) => {
    const metadata = { ...object.metadata, labels: { made: 'here' }, generation: 77, finalizers: ['example.com/f'] };
    return { ...convertHosts(object, apiVersion), metadata };
  };
  const { json } = await server.send('GET', `${sites('v2')}/a`);
  assert.deepEqual(
    [json.metadata.labels, json.metadata.generation, json.metadata.finalizers],
    [{ made: 'here' }, 1, undefined],
  );
  convert = (object, apiVersion) => ({ ...convertHosts(object, apiVersion), metadata: { name: 'b' } });
  const renamed = await server.send('GET', `${sites('v2')}/a`);
  assert.deepEqual(
    [renamed.status, renamed.json.message],
    [500, `conversion webhook for ${group}/v1, Kind=Site returned invalid object: must have the same name: a != b`],
  );
});

test('CR4 what a webhook refuses, and that it cannot be reached, is told as it is', async () => {
  const group = 'fail.example.com';
  const sites = await define(group);
  await server.send('POST', sites('v1'), site(group, 'v1', 'a', { host: 'x' }));
  convert = () => 'there is no such host';
  const refused = await server.send('GET', `${sites('v2')}/a`);
  assert.deepEqual(
    [refused.status, refused.json.message],
    [500, `conversion webhook for ${group}/v1, Kind=Site failed: there is no such host`],
  );
  assert.equal((await server.send('GET', `${sites('v1')}/a`)).status, 200);
  convert = (object) => object;
  const same = await server.send('GET', `${sites('v2')}/a`);
  assert.equal(
    same.json.message,
    `conversion webhook for ${group}/v1, Kind=Site returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received ${group}/v1)`,
  );
  const lost = await define('lost.example.com', 'https://127.0.0.1:1/x');
  await server.send('POST', lost('v1'), site('lost.example.com', 'v1', 'a', { host: 'x' }));
  assert.equal(
    (await server.send('GET', `${lost('v2')}/a`)).json.message,
    'conversion webhook for lost.example.com/v1, Kind=Site failed: Post "https://127.0.0.1:1/x?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused',
  );
});

test('what spec.conversion says is read before it is taken', async () => {
  const refusals = async (conversion: object) => {
    const { status, json } = await server.send('POST', definitions, definitionWith('bad.example.com', conversion));
    assert.equal(status, 422);
    return json.details.causes.map((cause: Anything) => `${cause.field}: ${cause.message}`);
  };
  assert.deepEqual(await refusals({ strategy: 'Magic' }), [
    'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
  ]);
  assert.deepEqual(await refusals({ strategy: 'Webhook' }), [
    'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
    'spec.conversion.conversionReviewVersions: Required value',
  ]);
  const clientConfig = { url: 'http://x/?a=b' };
  assert.deepEqual(
    await refusals({ strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v2', 'v2'] } }),
    [
      `spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'spec.conversion.webhookClientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
      'spec.conversion.conversionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'spec.conversion.conversionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ],
  );
  assert.deepEqual(await refusals({ strategy: 'None', webhook: { clientConfig, conversionReviewVersions: [] } }), [
    'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
  ]);
});

test('what a version does not know any more is not shown, though it is stored', async () => {
  const group = 'pruned.example.com';
  const sites = await define(group);
  await server.send('POST', sites('v1'), site(group, 'v1', 'a', { host: 'x' }));
  const { json: crd } = await server.send('GET', `${definitions}/sites.${group}`);
  const [v1, ...others] = crd.spec.versions;
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: {} } } } };
  const changed = { ...crd, spec: { ...crd.spec, versions: [{ ...v1, schema }, ...others] } };
  assert.equal((await server.send('PUT', `${definitions}/sites.${group}`, changed)).status, 200);
  assert.deepEqual((await server.send('GET', `${sites('v1')}/a`)).json.spec, {});
});
