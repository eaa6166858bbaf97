import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusalOf } from './refusal-of.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

const group = '/apis/admissionregistration.k8s.io/v1';

const causes = (plural: string, object: object) => refusalOf(server, `${group}/${plural}`, object);

test('a webhook configuration is refused with all that is wrong with its rules, its address and its versions', async () => {
  const webhook = {
    name: 'short.name',
    clientConfig: { url: 'http://user@/path?a=b#c' },
    admissionReviewVersions: ['v2', 'v2'],
    sideEffects: 'Some',
    timeoutSeconds: 31,
    matchPolicy: 'Similar',
    rules: [
      {
        apiGroups: [],
        apiVersions: ['*', 'v1'],
        operations: ['CREATE', 'PATCH'],
        resources: ['pods/*', 'pods/log', '*', 'nodes'],
        scope: 'World',
      },
    ],
    matchConditions: [
      { name: 'a', expression: 'true' },
      { name: 'a', expression: 'true' },
    ],
  };
  const form = '; desired format: https://host[/path]';
  const of = (lines: readonly string[]) => lines.map((line) => `webhooks[0].${line}`);
  assert.deepEqual(
    await causes('validatingwebhookconfigurations', { metadata: { name: 'a' }, webhooks: [webhook] }),
    of([
      'name: Invalid value: "short.name": should be a domain with at least three segments separated by dots',
      'rules[0].operations[1]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      'rules[0].apiGroups: Required value',
      `rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
      `rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
      `rules[0].resources: Invalid value: ["pods/*","pods/log","*","nodes"]: if '*' is present, must not specify other resources without subresources`,
      'rules[0].scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"',
      'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
      'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
      'matchPolicy: Unsupported value: "Similar": supported values: "Equivalent", "Exact"',
      `clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
      `clientConfig.url: Invalid value: "": host must be specified${form}`,
      'clientConfig.url: Invalid value: "user": user information is not permitted in the URL',
      'clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
      'clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
      'matchConditions[1].name: Duplicate value: "a"',
      'admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ]),
  );
  const service = { name: '', namespace: 'n', port: 0, path: 'a/B' };
  const [first, ...rest] = await causes('mutatingwebhookconfigurations', {
    metadata: { name: 'a' },
    webhooks: [
      { name: 'a.b.c', clientConfig: { service }, admissionReviewVersions: ['v1'], sideEffects: 'None', rules: [] },
    ],
  });
  assert.equal(first, 'webhooks[0].clientConfig.service.name: Required value: service name is required');
  assert.equal(rest.length, 4, rest.join('\n'));
});

test('a policy and its binding are refused with what they lack', async () => {
  assert.deepEqual(
    await causes('validatingadmissionpolicies', { metadata: { name: 'a' }, spec: { matchConstraints: {} } }),
    [
      'spec.matchConstraints.resourceRules: Required value',
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    ],
  );
  const binding = (spec: object) => causes('validatingadmissionpolicybindings', { metadata: { name: 'a' }, spec });
  assert.deepEqual(
    await binding({ paramRef: { name: 'p', selector: {} }, validationActions: ['Deny', 'Warn', 'Log'] }),
    [
      'spec.policyName: Required value',
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.parameterNotFoundAction: Required value',
      'spec.validationActions[2]: Unsupported value: "Log": supported values: "Audit", "Deny", "Warn"',
      'spec.validationActions: Invalid value: ["Deny","Log","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
  );
  assert.deepEqual(await binding({ policyName: 'p', paramRef: { parameterNotFoundAction: 'Deny' } }), [
    'spec.paramRef: Required value: one of name or selector must be specified',
    'spec.validationActions: Required value: at least one validation action is required',
  ]);
});
