import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusalOf } from './refusal-of.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const loopback = 'may not be in the loopback range (127.0.0.0/8, ::1/128)';

test('endpoints have addresses of other machines, and ports with names where there are many', async () => {
  const subsets = [
    {},
    {
      addresses: [{ ip: '1.2.3' }, { ip: '127.0.0.1' }, { ip: '0.0.0.0' }],
      notReadyAddresses: [{ ip: '169.254.0.1' }],
      ports: [{ port: 0 }, { name: 'a', port: 80, protocol: 'X', appProtocol: '/' }],
    },
  ];
  const path = '/api/v1/namespaces/default/endpoints';
  assert.deepEqual(await refusalOf(api, path, { metadata: { name: 'a' }, subsets }), [
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
    'subsets[1].addresses[0].ip: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'subsets[1].addresses[0].ip: Invalid value: "1.2.3": must be a valid IP address',
    `subsets[1].addresses[1].ip: Invalid value: "127.0.0.1": ${loopback}`,
    'subsets[1].addresses[2].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
    'subsets[1].notReadyAddresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    'subsets[1].ports[0].name: Required value',
    'subsets[1].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'subsets[1].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    'subsets[1].ports[1].appProtocol: Invalid value: "/": prefix part must be non-empty',
    'subsets[1].ports[1].appProtocol: Invalid value: "/": name part must be non-empty',
    "subsets[1].ports[1].appProtocol: Invalid value: \"/\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ]);
});

test('addresses of an EndpointSlice are of its type', async () => {
  const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const refused = (slice: object) => refusalOf(api, path, { metadata: { name: 'a' }, ...slice });
  const hints = { forZones: [{ name: 'z' }, { name: 'z' }] };
  assert.deepEqual(
    await refused({
      addressType: 'IPv6',
      endpoints: [{ addresses: ['10.0.0.1'], hints }, { addresses: ['::1'] }],
      ports: [{ name: 'a', protocol: 'X' }],
    }),
    [
      'endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be an IPv6 address',
      'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
      `endpoints[1].addresses[0]: Invalid value: "::1": ${loopback}`,
      'ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    ],
  );
  assert.deepEqual(await refused({ addressType: 'FQDN', endpoints: [{ addresses: ['host'] }] }), [
    'endpoints[0].addresses[0]: Invalid value: "host": should be a domain with at least two segments separated by dots',
  ]);
});

test('a request for a certificate is a PEM text that says what the certificate is for', async () => {
  const spec = { request: 'YWJj', signerName: 'example.com/s', usages: ['signing', 'signing'], expirationSeconds: 10 };
  assert.deepEqual(
    await refusalOf(api, '/apis/certificates.k8s.io/v1/certificatesigningrequests', { metadata: { name: 'a' }, spec }),
    [
      'spec.request: Invalid value: "YWJj": PEM block type must be CERTIFICATE REQUEST',
      'spec.usages[1]: Duplicate value: "signing"',
      'spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 600 seconds (10 minutes)',
    ],
  );
});
