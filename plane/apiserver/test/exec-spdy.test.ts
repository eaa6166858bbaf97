import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FakeNode, fakeNode } from './fake-node.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';
import { upgrade } from './upgraded-connection.js';

const pods = '/api/v1/namespaces/default/pods';
let api: ServerUnderTest;
let node: FakeNode;
before(async () => {
  node = await fakeNode();
  api = await startServer({ nodeStreams: node });
  const containers = [{ name: 'main', image: 'x' }];
  await api.send('POST', pods, { metadata: { name: 'p' }, spec: { nodeName: 'n1', containers } });
});
after(async () => {
  await api.stop();
  await node.close();
});

/** What kubectl 1.28 sends for `exec -i`: it opens error, stdin, stdout and stderr, with one compression for all. */
const opening = [
  '80030001000000290000000100000000000078f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a6800000000ffff',
  '800300010000001700000003000000000000c22e555c92929907000000ffff',
  '800300010000001900000005000000000000c22ac5565c92925f5a02000000ffff',
  '800300010000001500000007000000000000c229975a5404000000ffff',
].map(hex);
const hello = hex('000000030000000568656c6c6f');
const endOfInput = hex('0000000301000000');

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

const spdy = (versions: string) => ({
  upgrade: 'SPDY/3.1',
  ...(versions === '' ? {} : { 'x-stream-protocol-version': versions }),
});
const catPath = `${pods}/p/exec?command=cat&stdin=true&stdout=true&stderr=true`;

/** The answers to the four openings: no headers, as stored blocks of one zlib stream. */
const replies = hex(
  `8003000200000014${'00000001'}7801${'000400fbff00000000'}000000ffff` +
    ['00000003', '00000005', '00000007'].map((id) => `8003000200000012${id}000400fbff00000000000000ffff`).join(''),
);

test('ST1 exec over SPDY echoes its input, ends every stream and tells success', async () => {
  const connection = await upgrade(api, 'POST', catPath, spdy('v4.channel.k8s.io, v3.channel.k8s.io'));
  assert.equal(connection.status, 101);
  assert.equal(connection.headers.upgrade, 'SPDY/3.1');
  assert.equal(connection.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
  connection.write(Buffer.concat(opening));
  assert.equal((await connection.read(replies.length)).toString('hex'), replies.toString('hex'));
  // The end of stderr: this command has nothing to say there.
  assert.equal((await connection.read(8)).toString('hex'), '0000000701000000');
  connection.write(hello);
  assert.equal((await connection.read(13)).toString('hex'), '000000050000000568656c6c6f');
  connection.write(hex('800300060000000400000001'));
  assert.equal((await connection.read(12)).toString('hex'), '800300060000000400000001', 'a ping comes back');
  connection.write(endOfInput);
  assert.equal((await connection.read(8)).toString('hex'), '0000000501000000');
  const success = '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}';
  const status = `00000001000000${success.length.toString(16)}${Buffer.from(success).toString('hex')}`;
  assert.equal((await connection.read(8 + success.length)).toString('hex'), status);
  assert.equal((await connection.rest()).toString('hex'), '0000000101000000' + '80030007000000080000000700000000');
});

test('frames cut anywhere are read as if they were whole', async () => {
  const connection = await upgrade(api, 'POST', catPath, spdy('v4.channel.k8s.io'));
  for (const byte of Buffer.concat([...opening, hello])) connection.write(Buffer.from([byte]));
  await connection.read(replies.length);
  // What comes back on stdout, and the end of stderr, in whichever order.
  const frames = (await connection.read(21)).toString('hex');
  assert.ok(frames.includes('000000050000000568656c6c6f'), frames);
  connection.close();
});

test('ST3 5 MB come through without a window update from the client', async () => {
  const connection = await upgrade(api, 'POST', catPath, spdy('v4.channel.k8s.io'));
  connection.write(Buffer.concat(opening));
  await connection.read(replies.length);
  const piece = Buffer.concat([hex('0000000300010000'), Buffer.alloc(65_536, 'x')]);
  for (let count = 0; count < 80; count += 1) connection.write(piece);
  let left = 80 * 65_536;
  while (left > 0) {
    const head = await connection.read(8);
    const length = head.readUIntBE(5, 3);
    const data = await connection.read(length);
    assert.equal(data.length, length);
    if (head.readUInt32BE(0) === 5) left -= length;
  }
  assert.equal(left, 0);
  connection.close();
});

test('before version 4 the error stream has plain words', async () => {
  const path = `${pods}/p/exec?command=cat&command=9&stdin=true&stdout=true&stderr=true`;
  const connection = await upgrade(api, 'POST', path, spdy('v2.channel.k8s.io'));
  connection.write(Buffer.concat([...opening, endOfInput]));
  const bytes = await connection.rest();
  const words = 'command terminated with non-zero exit code: command terminated with exit code 9';
  assert.ok(bytes.includes(Buffer.concat([hex(`00000001000000${words.length.toString(16)}`), Buffer.from(words)])));
});

test('a client that speaks none of the versions hears which there are', async () => {
  const reply = await upgrade(api, 'POST', catPath, spdy('v9.channel.k8s.io'));
  assert.equal(reply.status, 403);
  assert.equal(
    reply.headers['x-accepted-stream-protocol-versions'],
    'v5.channel.k8s.io, v4.channel.k8s.io, v3.channel.k8s.io, v2.channel.k8s.io, channel.k8s.io',
  );
  assert.match((await reply.rest()).toString('utf8'), /^unable to upgrade: unable to negotiate protocol/);
});

test('ST5 bytes that are no SPDY/3.1 end the connection', async () => {
  const cases: readonly (readonly [what: string, bytes: Buffer])[] = [
    ['SPDY/2', hex('800200010000000a00000001000000000000')],
    ['16 MB in a frame', hex('0000000100ffffff')],
    ['headers that are not compressed', hex('800300010000000e0000000100000000000000000000')],
    ['a stream of the server', hex('8003000100000029000000020000000000007' + opening[0]?.toString('hex').slice(37))],
    ['a control frame that is too short', hex('80030003000000040000000a')],
  ];
  for (const [what, bytes] of cases) {
    const connection = await upgrade(api, 'POST', catPath, spdy('v4.channel.k8s.io'));
    connection.write(bytes);
    assert.equal((await connection.rest()).length, 0, what);
  }
});
