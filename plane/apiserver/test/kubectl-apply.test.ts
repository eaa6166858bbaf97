import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubectlProgram } from './kubectl-program.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const candidates = ['kubectl', ...[28, 29, 30, 31, 32, 33].map((minor) => `kubectl.1.${minor}`)];
const deadlineMs = 90_000;

const objects = (image: string, data: string) => `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: ${data}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "${image}"}]}
`;

for (const name of candidates) {
  test(`${name} applies on the server, shows differences, and takes over what it applied on the client`, async (t) => {
    const binary = kubectlProgram(name);
    if (binary === undefined) return t.skip(`${name} is not on this machine`);
    const api = await startServer();
    try {
      await story(binary, api);
    } finally {
      await api.stop();
    }
  });
}

async function story(binary: string, api: ServerUnderTest): Promise<void> {
  const before = join(api.directory, 'before.yaml');
  const after = join(api.directory, 'after.yaml');
  const kubeconfig = join(api.directory, 'kubeconfig');
  await writeFile(before, objects('db:1', '{a: "1", b: "2"}'));
  await writeFile(after, objects('db:2', '{a: "1", c: "3"}'));
  await writeFile(kubeconfig, api.kubeconfig);
  const kubectl = (...args: readonly string[]) => run(binary, args, { KUBECONFIG: kubeconfig, HOME: api.directory });
  const data = async () => (await api.send('GET', '/api/v1/namespaces/default/configmaps/settings')).json.data;

  await kubectl('apply', '-f', before);
  const difference = await kubectl('diff', '-f', after);
  for (const line of [/^- .*b: "2"$/m, /^\+ .*c: "3"$/m, /^- .*image: db:1$/m, /^\+ .*image: db:2$/m]) {
    assert.match(difference.output, line);
  }
  assert.equal(difference.code, 1);

  // The fields that the client-side apply set pass to the server-side apply, so that what it leaves out goes away.
  const applied = await kubectl('apply', '--server-side', '-f', after);
  assert.match(applied.output, /configmap\/settings serverside-applied/);
  assert.match(applied.output, /statefulset.apps\/db serverside-applied/);
  assert.deepEqual(await data(), { a: '1', c: '3' });
  assert.equal((await kubectl('diff', '--server-side', '-f', after)).code, 0);

  const contested = await kubectl('apply', '--server-side', '--field-manager=other', '-f', before);
  assert.match(contested.output, /conflict with "kubectl"/);
  assert.deepEqual(await data(), { a: '1', b: '2', c: '3' });
  const forced = await kubectl('apply', '--server-side', '--force-conflicts', '--field-manager=other', '-f', before);
  assert.equal(forced.code, 0, forced.output);
}

/** What a command says on both of its streams, and its exit code. */
function run(binary: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<{ readonly code: number | null; readonly output: string }>((resolve, reject) => {
    const child = spawn(binary, args, { env: { PATH: process.env.PATH, ...env }, timeout: deadlineMs });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => {
        output += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
