import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FakeNode, fakeNode } from './fake-node.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';
import { clientFrame, type UpgradedConnection, upgrade, webSocketHeaders } from './upgraded-connection.js';

const pods = '/api/v1/namespaces/default/pods';
const path = `${pods}/p/portforward`;
let api: ServerUnderTest;
let node: FakeNode;
let uid = '';
before(async () => {
  node = await fakeNode();
  api = await startServer({ nodeStreams: node });
  const containers = [{ name: 'main', image: 'x' }];
  const made = await api.send('POST', pods, { metadata: { name: 'p' }, spec: { nodeName: 'n1', containers } });
  uid = made.json.metadata.uid;
});
after(async () => {
  await api.stop();
  await node.close();
});

/** What kubectl 1.28 sends for a connection to port 7: an error stream whose end it writes at once, and a data stream. */
const opening = Buffer.from(
  '800300010000003c0000000100000000000078f9e3c6a7c202253a060606ce2248fc6482d22da30138e59514a526e6420b17d65450d0430aea2250a2663407000000ffff' +
    '0000000101000000' +
    '800300010000001c00000003000000000000' +
    '82ea4455072a8412d195a1190e000000ffff',
  'hex',
);
const replies =
  '80030002000000140000000178010004' +
  '00fbff00000000000000ffff' +
  '800300020000001200000003000400fbff00000000000000ffff';
const ab = Buffer.from('00000003000000026162' + '0000000301000000', 'hex');

async function readHex(connection: UpgradedConnection, count: number): Promise<string> {
  return (await connection.read(count)).toString('hex');
}

test('a port is forwarded over SPDY: data comes back, and each half ends by itself', async () => {
  const headers = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' };
  const connection = await upgrade(api, 'POST', path, headers);
  assert.equal(connection.status, 101);
  assert.equal(connection.headers['x-stream-protocol-version'], 'portforward.k8s.io');
  connection.write(opening);
  assert.equal(await readHex(connection, replies.length / 2), replies);
  connection.write(ab);
  const answer = [];
  for (let text = ''; text !== 'ababbye'; ) {
    const head = await connection.read(8);
    assert.equal(head.readUInt32BE(0), 3);
    text += (await connection.read(head.readUIntBE(5, 3))).toString('latin1');
    answer.push(text);
  }
  assert.equal(answer.at(-1), 'ababbye');
  const ends = [await readHex(connection, 8), await readHex(connection, 8)].sort();
  assert.deepEqual(ends, ['0000000101000000', '0000000301000000']);
  connection.close();
});

test('the same bytes go through a WebSocket tunnel, however its messages are cut', async () => {
  const protocol = 'SPDY/3.1+portforward.k8s.io';
  const connection = await upgrade(api, 'GET', path, webSocketHeaders(protocol));
  assert.equal(connection.headers['sec-websocket-protocol'], protocol);
  for (const part of [opening.subarray(0, 5), opening.subarray(5, 70), opening.subarray(70)]) {
    connection.write(clientFrame(2, part));
  }
  let received = '';
  while (received.length < replies.length) {
    const head = await connection.read(2);
    assert.equal(head[0], 0x82);
    received += await readHex(connection, head[1] ?? 0);
  }
  assert.equal(received, replies);
  connection.close();
});

test('a port that nobody listens on is told of on the error stream, and the connection goes on', async () => {
  const connection = await upgrade(api, 'GET', `${path}?ports=9`, webSocketHeaders('v4.channel.k8s.io'));
  const refusal = `error forwarding port 9 to pod p, uid ${uid}: dial tcp 127.0.0.1:9: connect: connection refused`;
  // Two channels begin with their port, the lower byte first; then comes what went wrong.
  assert.equal(await readHex(connection, 5), '8203000900');
  assert.equal(await readHex(connection, 5), '8203010900');
  assert.equal((await connection.read(4)).toString('hex'), `827e00${(refusal.length + 1).toString(16)}`);
  assert.equal((await connection.read(refusal.length + 1)).toString('latin1'), `\x01${refusal}`);
  connection.close();
});

test('several ports share a WebSocket of channels, in base64 where the client wants it', async () => {
  const connection = await upgrade(api, 'GET', `${path}?ports=7&ports=7`, webSocketHeaders('v4.base64.channel.k8s.io'));
  const heads = (await connection.read(4 * 7)).toString('latin1');
  assert.equal(heads, ['0', '1', '2', '3'].map((channel) => `\x81\x05${channel}BwA=`).join(''));
  connection.write(clientFrame(1, Buffer.from(`2${Buffer.from('xy').toString('base64')}`)));
  assert.equal((await connection.read(11)).toString('latin1'), `\x81\x092${Buffer.from('xyxy').toString('base64')}`);
  connection.close();
});

test('a WebSocket of channels must name its ports', async () => {
  for (const [query, message] of [
    ['', 'query parameter "port" is required'],
    ['?ports=0', 'unable to parse "0" as a port'],
    ['?ports=http', 'unable to parse "http" as a port'],
  ] as const) {
    const reply = await upgrade(api, 'GET', path + query, webSocketHeaders('v4.channel.k8s.io'));
    assert.equal(reply.status, 400);
    assert.equal(JSON.parse((await reply.rest()).toString('utf8')).message, message);
  }
});
