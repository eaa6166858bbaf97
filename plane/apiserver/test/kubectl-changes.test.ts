import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { type KubectlSession, kubectlSession, withoutKubectl } from './kubectl-session.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const skip = withoutKubectl;
let server: ServerUnderTest;
let kubectl: KubectlSession;
before(async () => {
  server = await startServer();
  kubectl = await kubectlSession(server);
});
after(() => server.stop());

const settings = (name: string, data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, labels: {app: q}}\ndata: ${data}\n`;
const dataOf = async (name: string) =>
  (await server.send('GET', `/api/v1/namespaces/default/configmaps/${name}`)).json.data;

test('kubectl edit writes what the editor leaves, and gives a refused text back to it', { skip }, async () => {
  await kubectl.says([
    ['create cm edited --from-literal=a=1', 'configmap/edited created'],
    ['create deploy edited --image=x', 'deployment.apps/edited created'],
  ]);
  const edit = async (what: string, script: string) => {
    const EDITOR = await kubectl.file('editor', `#!/bin/sh\n${script}\n`);
    return kubectl.run(`edit ${what}`, [], { EDITOR });
  };
  assert.deepEqual(await edit('cm edited', `sed -i 's/a: "1"/a: "2"/' "$1"`), {
    code: 0,
    output: 'configmap/edited edited',
  });
  assert.deepEqual(await dataOf('edited'), { a: '2' });
  assert.deepEqual(await edit('cm edited', 'true'), { code: 0, output: 'Edit cancelled, no changes made.' });
  const refusal =
    '# deployments.apps "edited" was not valid:\n' +
    '# * spec.replicas: Invalid value: -1: must be greater than or equal to 0';
  // The second time the editor is given the refusal at the head of the file, and mends the number.
  const mending = `if grep -q 'was not valid' "$1"; then cp "$1" "$HOME/again"; n=3; else n=-1; fi
sed -i "s/replicas: .*/replicas: $n/" "$1"`;
  assert.match((await edit('deploy edited', mending)).output, /deployment\.apps\/edited edited$/);
  const { output } = await kubectl.run('get deploy edited -o jsonpath={.spec.replicas}');
  assert.equal(output, '3');
  assert.ok((await readFile(`${kubectl.directory}/again`, 'utf8')).includes(refusal));
  assert.equal(
    (await edit('deploy edited --subresource=status', `sed -i 's/^status: {}/status: {replicas: 3}/' "$1"`)).output,
    'deployment.apps/edited edited',
  );
});

test('kubectl diff ends with 1 and the lines that differ, and with 0 and silence when nothing does', {
  skip,
}, async () => {
  const file = await kubectl.file('diff.yaml', settings('differs', '{a: "1"}'));
  const unmade = await kubectl.run(`diff -f ${file}`);
  assert.equal(unmade.code, 1);
  assert.match(unmade.output, /^\+kind: ConfigMap$/m);
  assert.equal(await dataOf('differs'), undefined);
  assert.equal((await kubectl.run(`apply -f ${file}`)).output, 'configmap/differs created');
  assert.deepEqual(await kubectl.run(`diff -f ${file}`), { code: 0, output: '' });
  await kubectl.file('diff.yaml', settings('differs', '{a: "2"}'));
  const changed = await kubectl.run(`diff -f ${file}`);
  assert.equal(changed.code, 1);
  assert.match(changed.output, /^- {2}a: "1"\n\+ {2}a: "2"$/m);
});

test('kubectl replace needs an object, and --force makes it anew', { skip }, async () => {
  const file = await kubectl.file('replace.yaml', settings('replaced', '{a: "1"}'));
  await kubectl.says([
    [
      `replace -f ${file}`,
      `Error from server (NotFound): error when replacing "${file}": configmaps "replaced" not found`,
    ],
    [`create -f ${file}`, 'configmap/replaced created'],
    [
      `create -f ${file}`,
      `Error from server (AlreadyExists): error when creating "${file}": configmaps "replaced" already exists`,
    ],
  ]);
  await kubectl.file('replace.yaml', settings('replaced', '{b: "2"}'));
  await kubectl.says([[`replace -f ${file}`, 'configmap/replaced replaced']]);
  assert.deepEqual(await dataOf('replaced'), { b: '2' });
  const path = '/api/v1/namespaces/default/configmaps/replaced';
  const { uid } = (await server.send('GET', path)).json.metadata;
  assert.match((await kubectl.run(`replace --force -f ${file}`)).output, /^configmap\/replaced replaced$/m);
  assert.notEqual((await server.send('GET', path)).json.metadata.uid, uid);
});

test('kubectl apply --server-side tells whose field it would change, and takes it when forced', { skip }, async () => {
  const file = await kubectl.file('applied.yaml', settings('applied', '{a: "1"}'));
  const apply = (manager: string) => `apply --server-side --field-manager=${manager} -f ${file}`;
  await kubectl.says([[apply('one'), 'configmap/applied serverside-applied']]);
  await kubectl.file('applied.yaml', settings('applied', '{a: "2"}'));
  const refused = await kubectl.run(apply('two'));
  assert.equal(refused.code, 1);
  assert.match(
    refused.output,
    /^error: Apply failed with 1 conflict: conflict with "one": \.data\.a\nPlease review the fields above--they currently have other managers\./,
  );
  await kubectl.says([
    [`${apply('two')} --force-conflicts`, 'configmap/applied serverside-applied'],
    ['get cm applied --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}', 'one two'],
  ]);
  assert.deepEqual(await dataOf('applied'), { a: '2' });
});

test('kubectl apply --prune deletes what it applied before and is not told of now', { skip }, async () => {
  const prune = 'apply --prune -l app=q --prune-allowlist=core/v1/ConfigMap -f';
  const [kept, gone] = [settings('kept', '{a: "1"}'), settings('gone', '{a: "1"}')];
  const file = await kubectl.file('prune.yaml', `${kept}---\n${gone}`);
  assert.match((await kubectl.run(`${prune} ${file}`)).output, /^configmap\/kept created\nconfigmap\/gone created$/m);
  await kubectl.file('prune.yaml', kept);
  const { code, output } = await kubectl.run(`${prune} ${file}`);
  assert.equal(code, 0);
  assert.match(output, /^configmap\/kept unchanged$/m);
  assert.match(output, /^configmap\/gone pruned$/m);
  assert.equal(await dataOf('gone'), undefined);
});

test('kubectl label and annotate change many objects, take words off, and refuse what is in the way', {
  skip,
}, async () => {
  const conflict =
    'Error from server (Conflict): Operation cannot be fulfilled on configmaps "l1": ' +
    'the object has been modified; please apply your changes to the latest version and try again';
  await kubectl.says([
    ['create ns labels', 'namespace/labels created'],
    ['-n labels create cm l1', 'configmap/l1 created'],
    ['-n labels create cm l2', 'configmap/l2 created'],
    ['-n labels label cm --all t=1', 'configmap/l1 labeled\nconfigmap/l2 labeled'],
    ['-n labels label cm -l t=1 t=2 --overwrite', 'configmap/l1 labeled\nconfigmap/l2 labeled'],
    ['-n labels label cm l1 t=2', 'configmap/l1 not labeled'],
    ['-n labels label cm l1 t=3', "error: 't' already has a value (2), and --overwrite is false"],
    ['-n labels label cm l1 t=3 --overwrite --resource-version=1', conflict],
    ['-n labels label cm l1 --list', 't=2'],
    ['-n labels label cm l1 t-', 'configmap/l1 unlabeled'],
    ['-n labels get cm -l !t -o name', 'configmap/l1'],
    ['-n labels annotate cm l1 x=y', 'configmap/l1 annotated'],
    [
      '-n labels annotate cm l1 x=z',
      "error: --overwrite is false but found the following declared annotation(s): 'x' already has a value (y)",
    ],
    ['-n labels annotate cm l1 x=z --overwrite', 'configmap/l1 annotated'],
    ['-n labels annotate cm l1 x-', 'configmap/l1 annotated'],
    ['-n labels get cm l1 -o jsonpath={.metadata.annotations}', ''],
  ]);
});

test('kubectl patch reaches the object, its status and its scale', { skip }, async () => {
  await kubectl.says([
    ['create deploy p --image=x', 'deployment.apps/p created'],
    [
      'patch deploy p -p {"spec":{"template":{"spec":{"containers":[{"name":"x","tty":true}]}}}}',
      'deployment.apps/p patched',
    ],
    ['get deploy p -o jsonpath={.spec.template.spec.containers[*].image}', 'x'],
    ['patch deploy p --type=merge -p {"spec":{"replicas":2}}', 'deployment.apps/p patched'],
    [
      'patch deploy p --type=json -p [{"op":"test","path":"/spec/replicas","value":2}]',
      'deployment.apps/p patched (no change)',
    ],
    [
      'patch deploy p --subresource=status --type=merge -p {"status":{"replicas":2},"spec":{"replicas":9}}',
      'deployment.apps/p patched',
    ],
    ['get deploy p -o jsonpath={.spec.replicas}/{.status.replicas}', '2/2'],
    ['patch deploy p --subresource=scale --type=merge -p {"spec":{"replicas":5}}', 'scale.autoscaling/p patched'],
    ['get deploy p --subresource=scale -o jsonpath={.kind}:{.spec.replicas}/{.status.replicas}', 'Scale:5/2'],
    ['patch deploy p --type=json -p [{"op":"test","path":"/spec/replicas","value":2}]', /^The request is invalid/],
  ]);
});
