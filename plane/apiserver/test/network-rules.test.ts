import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusalOf } from './refusal-of.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const group = '/apis/networking.k8s.io/v1';

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

test('the controller of an IngressClass is a domain and a path', async () => {
  const refused = (spec: object) => refusalOf(api, `${group}/ingressclasses`, { metadata: { name: 'a' }, spec });
  assert.deepEqual(await refused({ controller: 'foo' }), [
    'spec.controller: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")',
  ]);
  assert.deepEqual(await refused({ controller: 'example.com/a b' }), [
    "spec.controller: Invalid value: \"a b\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
  ]);
  assert.deepEqual(await refused({ controller: `example.com/${'a'.repeat(240)}` }), [
    'spec.controller: Too long: may not be more than 250 bytes',
  ]);
});

test('the parameters of an IngressClass say where they are', async () => {
  const refused = (parameters: object) =>
    refusalOf(api, `${group}/ingressclasses`, {
      metadata: { name: 'a' },
      spec: { controller: 'example.com/a', parameters },
    });
  assert.deepEqual(await refused({}), ['spec.parameters.kind: Required value', 'spec.parameters.name: Required value']);
  assert.deepEqual(await refused({ kind: 'X', name: 'y', scope: 'Namespace' }), [
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ]);
  assert.deepEqual(await refused({ kind: 'X/', name: '..', namespace: 'x' }), [
    'spec.parameters.kind: Invalid value: "X/": may not contain \'/\'',
    'spec.parameters.name: Invalid value: "..": may not be \'..\'',
    "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
  ]);
});

test('what an Ingress compares with the paths of requests has no steps back', async () => {
  const backend = { service: { name: 'a', port: { number: 70000 } } };
  const spec = {
    ingressClassName: 'A_b',
    tls: [{ hosts: ['*.x'], secretName: 'A_b' }],
    rules: [{ http: { paths: [{ path: '/a//b/..', pathType: 'Prefix', backend }] } }],
  };
  assert.deepEqual(await refusalOf(api, `${group}/namespaces/default/ingresses`, { metadata: { name: 'a' }, spec }), [
    'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/..": must not contain \'//\'',
    'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/..": cannot end with \'/..\'',
    'spec.rules[0].http.paths[0].backend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive',
    `spec.tls[0].secretName: Invalid value: "A_b": ${subdomain}`,
    `spec.ingressClassName: Invalid value: "A_b": ${subdomain}`,
  ]);
});

test('an Ingress that leads to an object says which', async () => {
  const spec = { defaultBackend: { resource: { kind: '', name: 'a/b' } } };
  assert.deepEqual(await refusalOf(api, `${group}/namespaces/default/ingresses`, { metadata: { name: 'a' }, spec }), [
    'spec.defaultBackend.resource.kind: Required value',
    'spec.defaultBackend.resource.name: Invalid value: "a/b": may not contain \'/\'',
  ]);
});

test('the addresses of an Ingress are addresses, and its names are none', async () => {
  const path = `${group}/namespaces/default/ingresses`;
  const spec = { defaultBackend: { service: { name: 'a', port: { number: 80 } } } };
  assert.equal((await api.send('POST', path, { metadata: { name: 'status' }, spec })).status, 201);
  const status = { loadBalancer: { ingress: [{ ip: 'x' }, { hostname: '1.2.3.4' }] } };
  const type = { 'content-type': 'application/merge-patch+json' };
  const refused = await api.send('PATCH', `${path}/status/status`, { status }, type);
  assert.equal(
    refused.json.message,
    'Ingress.networking.k8s.io "status" is invalid: [status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address]',
  );
});

test('ports of a NetworkPolicy are numbers or names, and a range begins at a number', async () => {
  const ports = [
    { protocol: 'X', port: 0 },
    { endPort: 5 },
    { port: 'http', endPort: 5 },
    { port: 9, endPort: 70000 },
    { port: 'no--name' },
  ];
  const spec = { podSelector: { matchExpressions: [{ key: 'a b', operator: 'Exists' }] }, egress: [{ ports }] };
  assert.deepEqual(
    (await refusalOf(api, `${group}/namespaces/default/networkpolicies`, { metadata: { name: 'a' }, spec })).slice(1),
    [
      'spec.egress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
      'spec.egress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.egress[0].ports[1].endPort: Invalid value: 5: may not be specified when `port` is not specified',
      'spec.egress[0].ports[2].endPort: Invalid value: 5: may not be specified when `port` is non-numeric',
      'spec.egress[0].ports[3].endPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
      'spec.egress[0].ports[4].port: Invalid value: "no--name": must not contain consecutive hyphens',
    ],
  );
});
