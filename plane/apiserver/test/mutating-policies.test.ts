import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '@castellan/world';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});
after(() => server.stop());

const group = '/apis/admissionregistration.k8s.io/v1';

const configured = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patched = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** A policy of this name for what is created in the namespace of this name, without its binding. */
function policyOf(name: string, namespace: string, spec: Record<string, unknown>) {
  const resourceRules = [
    { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['configmaps', 'deployments', 'pods'] },
  ];
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  return {
    metadata: { name },
    spec: { matchConstraints: { namespaceSelector, resourceRules }, reinvocationPolicy: 'Never', ...spec },
  };
}

async function enforce(name: string, namespace: string, spec: Record<string, unknown>): Promise<void> {
  const created = await server.send('POST', `${group}/mutatingadmissionpolicies`, policyOf(name, namespace, spec));
  assert.equal(created.status, 201, created.text);
  const binding = { metadata: { name }, spec: { policyName: name } };
  const bound = await server.send('POST', `${group}/mutatingadmissionpolicybindings`, binding);
  assert.equal(bound.status, 201, bound.text);
}

/** Makes a namespace with these policies, and gives a function that tries what would be created there. */
async function namespaceWith(namespace: string, policies: Readonly<Record<string, Record<string, unknown>>>) {
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await server.send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
  for (const [name, spec] of Object.entries(policies)) await enforce(`${namespace}-${name}`, namespace, spec);
  const create = (path: string, object: unknown) =>
    server.send('POST', `${path.replace('NS', `namespaces/${namespace}`)}?dryRun=All`, object);
  /** A binding is heard of a moment after its reply. */
  const created = (path: string, object: unknown, isSo: (json: Record<string, never>) => boolean) =>
    waitFor(
      server.world,
      async () => {
        const reply = await create(path, object);
        return isSo(reply.json) ? reply : undefined;
      },
      { what: 'the policies to act', deadlineMs: 5_000 },
    );
  return { create, created };
}

const configMaps = '/api/v1/NS/configmaps';
const labelsOf = (json: { metadata?: { labels?: Record<string, string> } }) => json.metadata?.labels ?? {};

test('a policy merges an apply configuration into an object, with variables and conditions', async () => {
  const { create, created } = await namespaceWith('configuring', {
    labels: {
      variables: [{ name: 'team', expression: '"team-" + object.metadata.name' }],
      matchConditions: [
        { name: 'asked', expression: '!has(object.metadata.labels) || !("skip" in object.metadata.labels)' },
      ],
      mutations: [configured('Object{metadata: Object.metadata{labels: {"team": variables.team}}}')],
    },
  });
  const object = { metadata: { name: 'a', labels: { own: 'kept' } }, data: { a: '1' } };
  const { json } = await created(configMaps, object, (reply) => labelsOf(reply).team !== undefined);
  assert.deepEqual(labelsOf(json), { own: 'kept', team: 'team-a' });
  assert.deepEqual(json.data, { a: '1' });
  const skipped = await create(configMaps, { metadata: { name: 'b', labels: { skip: '' } } });
  assert.deepEqual(labelsOf(skipped.json), { skip: '' });
});

test('a policy adds a container to a pod by its name, which gets the defaults and the token of a container', async () => {
  const sidecar = 'Object.spec.containers{name: "proxy", image: "proxy:1", ?command: optional.none()}';
  const { created } = await namespaceWith('injecting', {
    proxy: {
      mutations: [
        configured(`Object{spec: Object.spec{containers: [${sidecar}]}}`),
        patched(
          '[JSONPatch{op: "test", path: "/spec/containers/0/name", value: "other"}, JSONPatch{op: "remove", path: "/spec"}]',
        ),
        patched(
          '[JSONPatch{op: "add", path: "/metadata/annotations", value: {}}, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("a/b"), value: string(size(object.spec.containers))}]',
        ),
      ],
    },
  });
  const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'main', image: 'main:1' }] } };
  const { json } = await created('/api/v1/NS/pods', pod, (reply) => JSON.stringify(reply).includes('proxy:1'));
  const [main, proxy] = json.spec.containers;
  assert.equal(main.image, 'main:1');
  assert.equal(proxy.imagePullPolicy, 'IfNotPresent');
  assert.equal(proxy.volumeMounts[0].mountPath, '/var/run/secrets/kubernetes.io/serviceaccount');
  assert.deepEqual(json.metadata.annotations, { 'a/b': '2' });
});

test('a policy that asks for it is called once more when a later one has changed the object', async () => {
  const count = 'has(object.data) && "n" in object.data ? string(int(object.data.n) + 1) : "1"';
  const counting = (reinvocationPolicy: string, key: string) => ({
    reinvocationPolicy,
    mutations: [
      configured(`Object{data: {"${key}": ${count.replaceAll('.n', `.${key}`).replaceAll('"n"', `"${key}"`)}}}`),
    ],
  });
  const { created } = await namespaceWith('again', {
    a: counting('IfNeeded', 'asked'),
    b: counting('Never', 'unasked'),
  });
  const { json } = await created(configMaps, { metadata: { name: 'a' } }, (reply) =>
    JSON.stringify(reply).includes('unasked'),
  );
  assert.deepEqual(json.data, { asked: '2', unasked: '1' });
});

test('a policy that cannot be carried out refuses the write, or is passed over where it says so', async () => {
  const broken = { mutations: [configured('Object{data: {"a": object.data.nosuch}}')] };
  const { created } = await namespaceWith('failing', { broken });
  const { status, json } = await created(
    configMaps,
    { metadata: { name: 'a' }, data: {} },
    ({ kind }) => kind === 'Status',
  );
  assert.equal(status, 403);
  assert.equal(json.reason, 'Invalid');
  assert.match(
    json.message,
    /^policy 'failing-broken' with binding 'failing-broken' denied request: expression 'Object\{data/,
  );
  const { create } = await namespaceWith('passing', { broken: { failurePolicy: 'Ignore', ...broken } });
  assert.equal((await create(configMaps, { metadata: { name: 'a' }, data: {} })).status, 201);
});

for (const { what, expression, problem } of [
  {
    what: 'a list that is one value',
    expression:
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "a", args: ["x"]}]}}}}',
    problem:
      /invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: \.spec\.template\.spec\.containers\[0\]\.args/,
  },
  {
    what: 'a field that is not there',
    expression: 'Object{spec: Object.spec{nosuch: 1}}',
    problem: /failed to convert patch object to typed object: \.spec\.nosuch: field not declared in schema/,
  },
  {
    what: 'an object of the wrong type',
    expression: 'Object{spec: Object.specx{replicas: 1}}',
    problem: /type mismatch: unexpected type name "Object\.specx", expected "Object\.spec"/,
  },
]) {
  test(`a configuration with ${what} is told of`, async () => {
    const namespace = what.replace(/[^a-z]/g, '');
    const { created } = await namespaceWith(namespace, { p: { mutations: [configured(expression)] } });
    const selector = { matchLabels: { a: 'b' } };
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const deployment = { metadata: { name: 'a' }, spec: { selector, template } };
    const { json } = await created('/apis/apps/v1/NS/deployments', deployment, ({ kind }) => kind === 'Status');
    assert.match(json.message, problem);
  });
}

test('a policy that says too little, or nothing that compiles, is refused where it is written', async () => {
  const spec = {
    mutations: [{ patchType: 'JSONPatch' }, configured('Object{'), { patchType: 'Merge' }],
    reinvocationPolicy: '',
  };
  const reply = await server.send('POST', `${group}/mutatingadmissionpolicies`, policyOf('bad', 'bad', spec));
  assert.equal(reply.status, 422);
  const fields = reply.json.details.causes.map(({ field }: { field: string }) => field);
  assert.deepEqual(fields, ['spec.mutations[0].jsonPatch', 'spec.mutations[2].patchType', 'spec.reinvocationPolicy']);
  const wrong = policyOf('bad', 'bad', { mutations: [configured('Object{')] });
  const second = await server.send('POST', `${group}/mutatingadmissionpolicies`, wrong);
  assert.match(
    second.json.message,
    /spec\.mutations\[0\]\.applyConfiguration\.expression: Invalid value: "Object\{": compilation failed/,
  );
});
