import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@castellan/world';
import { AuditPolicyError, readAuditPolicy } from '../src/index.js';
import { send, startServer } from './server-under-test.js';

const configMaps = '/api/v1/namespaces/default/configmaps';

async function directoryOf(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'audit-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

async function policyFile(t: TestContext, content: string): Promise<string> {
  const path = join(await directoryOf(t), 'policy.yaml');
  await writeFile(path, content);
  return path;
}

/** A server with this policy; `events` waits until the log tells of the path. */
async function audited(t: TestContext, rules: string) {
  const auditLog = join(await directoryOf(t), 'audit.log');
  const auditPolicy = await readAuditPolicy(await policyFile(t, `apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`));
  const server = await startServer({ auditLog, auditPolicy });
  t.after(() => server.stop());
  const lines = async () =>
    (await readFile(auditLog, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  /** All events, when the one of the last request of the test is there. */
  const events = async () => {
    await server.send('GET', '/last');
    return waitFor(
      server.world,
      async () => {
        const all = await lines();
        return all.some((event) => event.requestURI === '/last') ? all : undefined;
      },
      { what: 'the audit log to tell of the last request', deadlineMs: 5_000 },
    );
  };
  return { server, events };
}

test('the first rule that matches says how much of a request the audit log tells', async (t) => {
  const { server, events } = await audited(
    t,
    `
omitStages: [RequestReceived]
rules:
- {level: None, verbs: [list]}
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: RequestResponse, omitManagedFields: true, resources: [{group: "", resources: [configmaps], resourceNames: [whole]}]}
- {level: Request, namespaces: [default], resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata, nonResourceURLs: [/last]}
`,
  );
  await server.send('POST', configMaps, { metadata: { name: 'whole' }, data: { a: '1' } });
  await server.send('GET', configMaps);
  await server.send('POST', '/api/v1/namespaces/default/secrets', {
    metadata: { name: 's' },
    stringData: { a: 'hid' },
  });
  await server.send(
    'PATCH',
    `${configMaps}/whole`,
    { data: { a: '2' } },
    { 'content-type': 'application/merge-patch+json' },
  );
  await server.send('DELETE', `${configMaps}/whole`, {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    gracePeriodSeconds: 0,
  });
  await server.send('GET', '/api/v1/nodes');
  const [created, secret, patched, deleted, last] = await events();
  assert.equal(created.level, 'Request');
  assert.equal(created.objectRef.name, 'whole');
  assert.deepEqual(created.requestObject.data, { a: '1' });
  assert.equal(created.responseObject, undefined);
  assert.equal(secret.level, 'Metadata');
  assert.equal(secret.requestObject, undefined);
  assert.equal(patched.level, 'RequestResponse');
  assert.deepEqual(patched.requestObject, { data: { a: '2' } });
  assert.deepEqual(patched.responseObject.data, { a: '2' });
  assert.equal(patched.responseObject.metadata.managedFields, undefined);
  assert.equal(deleted.requestObject.gracePeriodSeconds, 0);
  assert.equal(deleted.responseObject.kind, 'Status');
  assert.equal(deleted.responseStatus.status, 'Success');
  assert.equal(last.requestURI, '/last');
});

test('the audit log tells of a request when it comes and when it ends, and of a whole list at level RequestResponse', async (t) => {
  const { server, events } = await audited(
    t,
    `
rules:
- {level: RequestResponse, users: [castellan-admin], resources: [{group: "", resources: ["namespaces/*"]}]}
- {level: Metadata, omitStages: [RequestReceived], nonResourceURLs: ["/la*"]}
`,
  );
  await server.send('GET', '/api/v1/namespaces');
  const [received, complete] = await events();
  assert.equal(received.stage, 'RequestReceived');
  assert.equal(received.responseStatus, undefined);
  assert.equal(complete.stage, 'ResponseComplete');
  assert.equal(complete.auditID, received.auditID);
  assert.equal(complete.responseObject.kind, 'NamespaceList');
  assert.equal(complete.responseObject.items.length, 4);
});

test('a refusal is told with its reason, and a request without credentials under no name', async (t) => {
  const { server, events } = await audited(t, 'omitStages: [RequestReceived]\nrules: [{level: Metadata}]\n');
  await server.send('GET', `${configMaps}/nosuch`);
  const session = connect(server.url, { ca: server.certificates.caCertificate });
  t.after(() => session.destroy());
  await send(session, { method: 'GET', path: configMaps, headers: { authorization: 'Bearer nobody' } });
  const told = await events();
  const missing = told.find((event) => event.objectRef?.name === 'nosuch');
  assert.equal(missing.responseStatus.reason, 'NotFound');
  assert.equal(missing.responseStatus.message, 'configmaps "nosuch" not found');
  const stranger = told.find((event) => event.responseStatus.code === 401);
  assert.equal(stranger.requestURI, configMaps);
  assert.equal(stranger.user, undefined);
});

for (const { what, content, problem } of [
  {
    what: 'an unknown level',
    content: 'rules: [{level: All}]',
    problem: /rules\[0\]\.level: Unsupported value: "All"/,
  },
  { what: 'no level', content: 'rules: [{verbs: [get]}]', problem: /rules\[0\]\.level: Required value/ },
  { what: 'no rules', content: '', problem: /rules: Required value/ },
  {
    what: 'an unknown stage',
    content: 'rules: [{level: None, omitStages: [Early]}]',
    problem: /omitStages\[0\]: Unsupp/,
  },
  {
    what: 'an unknown field',
    content: 'rules: [{level: None, verb: get}]',
    problem: /unknown field "rules\[0\]\.verb"/,
  },
  {
    what: 'resources and paths in one rule',
    content: 'rules: [{level: None, namespaces: [a], nonResourceURLs: [/a]}]',
    problem: /rules cannot apply to both regular resources and non-resource URLs/,
  },
  {
    what: 'a group with its version',
    content: 'rules: [{level: None, resources: [{group: apps/v1}]}]',
    problem: /rules\[0\]\.resources\[0\]\.group: Invalid value: "apps\/v1"/,
  },
  {
    what: 'names without resources',
    content: 'rules: [{level: None, resources: [{group: "", resourceNames: [a]}]}]',
    problem: /using resourceNames requires at least one resource/,
  },
  {
    what: 'a path with a star within',
    content: 'rules: [{level: None, nonResourceURLs: ["/a*b", "c"]}]',
    problem: /must be the final character of the rule\n.*must begin with a '\/' character/,
  },
]) {
  test(`an audit policy with ${what} is refused with the reason`, async (t) => {
    const path = await policyFile(t, `apiVersion: audit.k8s.io/v1\nkind: Policy\n${content}\n`);
    await assert.rejects(
      readAuditPolicy(path),
      (error) => error instanceof AuditPolicyError && problem.test(error.message),
    );
  });
}

test('a file that is no audit policy, no YAML or not there is refused', async (t) => {
  const other = await policyFile(t, 'apiVersion: v1\nkind: Pod\n');
  await assert.rejects(readAuditPolicy(other), /it is not apiVersion audit\.k8s\.io\/v1, kind Policy/);
  const broken = await policyFile(t, 'rules: [');
  await assert.rejects(readAuditPolicy(broken), /it is not YAML/);
  await assert.rejects(readAuditPolicy(join(await directoryOf(t), 'nosuch')), /it cannot be read: ENOENT/);
});
