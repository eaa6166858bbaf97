import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FakeNode, fakeNode } from './fake-node.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';
import { clientFrame, upgrade, webSocketHeaders } from './upgraded-connection.js';

const pods = '/api/v1/namespaces/default/pods';
const success = '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}';
const [text, binary, close] = [1, 2, 8];
let api: ServerUnderTest;
let node: FakeNode;
before(async () => {
  node = await fakeNode();
  api = await startServer({ nodeStreams: node });
  const spec = {
    nodeName: 'n1',
    containers: [
      { name: 'main', image: 'x' },
      { name: 'other', image: 'x' },
    ],
  };
  await api.send('POST', pods, { metadata: { name: 'p' }, spec });
  await api.send('POST', pods, { metadata: { name: 'waiting' }, spec: { containers: [{ name: 'main', image: 'x' }] } });
});
after(async () => {
  await api.stop();
  await node.close();
});

const exec = (command: string, rest = '') =>
  `${pods}/p/exec?container=main${command
    .split(' ')
    .map((word) => `&command=${word}`)
    .join('')}${rest}`;

/** One message on a channel, as the server frames it. */
function message(channel: number, payload: string): Buffer {
  const length = payload.length + 1;
  const head = length < 126 ? [0x82, length] : [0x82, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([...head, channel]), Buffer.from(payload)]);
}

test('ST1 exec over v5.channel.k8s.io gives both outputs apart, then the exit code, then a close', async () => {
  const connection = await upgrade(
    api,
    'GET',
    exec('say 3', '&stdout=true&stderr=true'),
    webSocketHeaders('v5.channel.k8s.io,v4.channel.k8s.io'),
  );
  assert.equal(connection.status, 101);
  assert.equal(connection.headers['sec-websocket-accept'], 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  assert.equal(connection.headers['sec-websocket-protocol'], 'v5.channel.k8s.io');
  assert.deepEqual(await connection.read(3), Buffer.from([0x82, 1, 1]), 'an empty message on stdout comes first');
  const outputs = (await connection.read(12)).toString('latin1');
  assert.ok([`\x82\x04\x01out\x82\x04\x02err`, `\x82\x04\x02err\x82\x04\x01out`].includes(outputs), outputs);
  const status =
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: command terminated with exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}';
  assert.deepEqual(await connection.read(status.length + 5), message(3, status));
  assert.deepEqual(await connection.read(4), Buffer.from([0x88, 2, 0x03, 0xe8]));
  connection.write(clientFrame(close, Buffer.from([0x03, 0xe8])));
  assert.equal((await connection.rest()).length, 0);
});

test('input ends where a v5 client says so, and comes back whole', async () => {
  const connection = await upgrade(
    api,
    'GET',
    exec('cat', '&stdin=true&stdout=true'),
    webSocketHeaders('v5.channel.k8s.io'),
  );
  await connection.read(3);
  connection.write(clientFrame(binary, Buffer.from('\0one')));
  assert.deepEqual(await connection.read(6), message(1, 'one'));
  // A message in two fragments with a ping between them.
  connection.write(clientFrame(binary, Buffer.from('\0t'), { isFinal: false }));
  connection.write(clientFrame(9, Buffer.from('hi')));
  assert.deepEqual(await connection.read(4), Buffer.from('\x8a\x02hi', 'latin1'));
  connection.write(clientFrame(0, Buffer.from('wo')));
  assert.deepEqual(await connection.read(6), message(1, 'two'));
  connection.write(clientFrame(binary, Buffer.from([0xff, 0x00])));
  assert.deepEqual(await connection.read(success.length + 3), message(3, success));
  connection.close();
});

test('browsers get base64 in text messages, and older protocols plain words for an exit code', async () => {
  const path = exec('say 2', '&stdout=true&stderr=false');
  const base64 = await upgrade(api, 'GET', path, webSocketHeaders('base64.channel.k8s.io'));
  assert.deepEqual(await base64.read(3), Buffer.from('\x81\x011', 'latin1'));
  assert.deepEqual(await base64.read(7), Buffer.from(`\x81\x051${Buffer.from('out').toString('base64')}`, 'latin1'));
  const words = 'command terminated with non-zero exit code: command terminated with exit code 2';
  const encoded = `3${Buffer.from(words).toString('base64')}`;
  assert.deepEqual(
    await base64.read(encoded.length + 2),
    Buffer.from(`\x81${String.fromCharCode(encoded.length)}${encoded}`, 'latin1'),
  );
  base64.close();
  const v4 = await upgrade(api, 'GET', exec('cat', '&stdin=true'), webSocketHeaders('v4.base64.channel.k8s.io'));
  await v4.read(3);
  v4.write(clientFrame(text, Buffer.from(`0${Buffer.from('hi').toString('base64')}`)));
  assert.deepEqual(await v4.read(7), Buffer.from('\x81\x051aGk=', 'latin1'));
  v4.close();
});

test("a terminal has one output and follows the size of the client's", async () => {
  const connection = await upgrade(
    api,
    'GET',
    exec('cat', '&stdin=true&stdout=true&stderr=true&tty=true'),
    webSocketHeaders('v5.channel.k8s.io'),
  );
  await connection.read(3);
  connection.write(clientFrame(binary, Buffer.from('\x04{"Width":80,"Hei')));
  connection.write(clientFrame(binary, Buffer.from('\x04ght":24}{"Width":0,"Height":1}{"Width":100,"Height":30}')));
  connection.write(clientFrame(binary, Buffer.from('\0x')));
  assert.deepEqual(await connection.read(4), message(1, 'x'));
  assert.equal(node.asked.at(-1)?.tty, true);
  connection.write(clientFrame(binary, Buffer.from([0xff, 0x00])));
  await connection.read(success.length + 3);
  assert.deepEqual(node.sizes, ['80x24', '100x30']);
  connection.close();
});

test('ST2 a client that goes away takes its command with it', async () => {
  const connection = await upgrade(
    api,
    'GET',
    exec('wait', '&stdin=true&stdout=true'),
    webSocketHeaders('v5.channel.k8s.io'),
  );
  await connection.read(3);
  connection.close();
  await node.killed;
});

test('ST5 frames that RFC 6455 does not allow end the connection with the code for it', async () => {
  const cases: readonly (readonly [what: string, bytes: Buffer, code: number])[] = [
    ['not masked', Buffer.from([0x82, 1, 0]), 1002],
    ['reserved bits', clientFrame(0x42, Buffer.from('\0x')), 1002],
    ['an unknown opcode', clientFrame(3, Buffer.from('\0x')), 1002],
    ['a fragmented ping', clientFrame(9, Buffer.from('x'), { isFinal: false }), 1002],
    ['nothing to continue', clientFrame(0, Buffer.from('x')), 1002],
    ['a close code of its own making', clientFrame(close, Buffer.from([0x03, 0xed])), 1002],
    ['text that is not UTF-8', clientFrame(text, Buffer.from([0x30, 0xff])), 1007],
    ['5 GB', Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]), 1009],
  ];
  for (const [what, bytes, code] of cases) {
    const connection = await upgrade(
      api,
      'GET',
      exec('cat', '&stdin=true&stdout=true'),
      webSocketHeaders('v5.channel.k8s.io'),
    );
    await connection.read(3);
    connection.write(bytes);
    const frame = await connection.rest();
    assert.equal(frame[0], 0x88, what);
    assert.equal(frame.readUInt16BE(2), code, what);
  }
});

test('ST6 what cannot be reached is refused in the words of upstream, before the protocol changes', async () => {
  const headers = webSocketHeaders('v4.channel.k8s.io');
  const cases: readonly (readonly [path: string, status: number, message: string])[] = [
    [`${pods}/none/exec?command=cat`, 404, 'pods "none" not found'],
    [`${pods}/waiting/exec?command=cat`, 400, 'pod waiting does not have a host assigned'],
    [`${pods}/p/exec?command=cat`, 400, 'a container name must be specified for pod p, choose one of: [main other]'],
    [`${pods}/p/exec?command=cat&container=c`, 400, 'container c is not valid for pod p'],
    [exec('cat', '&stdout=false&stderr=false'), 400, 'you must specify at least 1 of stdin, stdout, stderr'],
  ];
  for (const [path, status, message] of cases) {
    const reply = await upgrade(api, 'GET', path, headers);
    assert.equal(reply.status, status, path);
    assert.equal(JSON.parse((await reply.rest()).toString('utf8')).message, message);
  }
  assert.equal((await api.send('GET', exec('cat'))).json.message, 'Upgrade request required');
  assert.equal((await api.send('DELETE', exec('cat'))).status, 405);
  const unknown = await upgrade(api, 'GET', exec('cat'), webSocketHeaders('v9.channel.k8s.io'));
  assert.equal(unknown.status, 403);
  unknown.close();
});

test('ST6 a container that does not run is told of by the node before v5, and by the status from v5 on', async () => {
  const path = `${pods}/p/exec?command=cat&container=other`;
  const v4 = await upgrade(api, 'GET', path, webSocketHeaders('v4.channel.k8s.io'));
  assert.equal(v4.status, 500);
  assert.equal((await v4.rest()).toString('utf8'), 'container not found ("other")');
  const v5 = await upgrade(api, 'GET', path, webSocketHeaders('v5.channel.k8s.io'));
  assert.equal(v5.status, 101);
  await v5.read(3);
  const [, , high = 0, low = 0] = await v5.read(4);
  const status = JSON.parse((await v5.read(high * 256 + low)).subarray(1).toString('utf8'));
  assert.equal(status.message, 'Internal error occurred: unable to upgrade connection: container not found ("other")');
  v5.close();
});

test('ST4 who may only read pods/exec opens no WebSocket: the right to create it is asked for as well', async () => {
  const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }];
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await api.send('POST', `${rbac}/clusterroles`, { metadata: { name: 'exec-reader' }, rules });
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'reader' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'exec-reader' };
  await api.send('POST', `${rbac}/clusterrolebindings`, { metadata: { name: 'exec-reader' }, subjects, roleRef });
  const headers = { ...webSocketHeaders('v5.channel.k8s.io'), 'impersonate-user': 'reader' };
  const refused = await upgrade(api, 'GET', exec('cat'), headers);
  assert.equal(refused.status, 403);
  assert.equal(JSON.parse((await refused.rest()).toString('utf8')).message, 'pods "p" is forbidden: ');
  const patch = { rules: [{ ...rules[0], verbs: ['get', 'create'] }] };
  await api.send('PATCH', `${rbac}/clusterroles/exec-reader`, patch, {
    'content-type': 'application/merge-patch+json',
  });
  const allowed = await upgrade(api, 'GET', exec('say'), headers);
  assert.equal(allowed.status, 101);
  allowed.close();
});

test('ST4 admission decides over connections (CONNECT), by their options', async () => {
  const group = '/apis/admissionregistration.k8s.io/v1';
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] };
  const validations = [
    { expression: "!object.command.exists(word, word == 'forbidden')", message: 'not this command' },
  ];
  const spec = { matchConstraints: { resourceRules: [rule] }, validations };
  await api.send('POST', `${group}/validatingadmissionpolicies`, { metadata: { name: 'commands' }, spec });
  const binding = { metadata: { name: 'commands' }, spec: { policyName: 'commands', validationActions: ['Deny'] } };
  await api.send('POST', `${group}/validatingadmissionpolicybindings`, binding);
  const headers = webSocketHeaders('v5.channel.k8s.io');
  // A binding is heard of a moment after its reply.
  const end = Date.now() + 30_000;
  for (;;) {
    const reply = await upgrade(api, 'GET', exec('say forbidden'), headers);
    const text = reply.status === 422 ? (await reply.rest()).toString('utf8') : '';
    reply.close();
    if (text.includes('denied request: not this command')) break;
    assert.ok(Date.now() < end, `waited 30 s for the policy to deny; the reply is ${reply.status} ${text}`);
  }
  const allowed = await upgrade(api, 'GET', exec('say'), headers);
  assert.equal(allowed.status, 101);
  allowed.close();
});
