import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';
import { type UpgradedConnection, upgrade, webSocketHeaders } from './upgraded-connection.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const tokenPrefix = 'base64url.bearer.authorization.k8s.io.';
let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

/** The next text message of the server. */
async function message(connection: UpgradedConnection): Promise<string> {
  const [first, short = 0] = await connection.read(2);
  assert.equal(first, 0x81);
  const length = short < 126 ? short : (await connection.read(2)).readUInt16BE();
  return (await connection.read(length)).toString('utf8');
}

test('a browser watches by WebSocket: one text message for each event', async () => {
  await api.send('POST', configMaps, { metadata: { name: 'a' } });
  const headers = webSocketHeaders('base64.binary.k8s.io');
  const watch = await upgrade(api, 'GET', `${configMaps}?watch=true&fieldSelector=metadata.name=a`, headers);
  assert.equal(watch.status, 101);
  assert.equal(watch.headers['sec-websocket-protocol'], 'base64.binary.k8s.io');
  assert.equal(JSON.parse(await message(watch)).type, 'ADDED');
  await api.send('DELETE', `${configMaps}/a`);
  const deleted = JSON.parse(await message(watch));
  assert.equal(deleted.type, 'DELETED');
  assert.equal(deleted.object.metadata.name, 'a');
  watch.close();
});

test('a watch that may not be stays HTTP, and one whose time is up is closed', async () => {
  const refused = await upgrade(api, 'GET', `${configMaps}?watch=true&resourceVersion=x`, webSocketHeaders(''));
  assert.equal(refused.status, 400);
  refused.close();
  const short = await upgrade(api, 'GET', `${configMaps}?watch=true&timeoutSeconds=1`, webSocketHeaders(''));
  assert.deepEqual((await short.read(4)).subarray(0, 2), Buffer.from([0x88, 2]));
  short.close();
});

test('a bearer token may come as a subprotocol, and is no subprotocol', async () => {
  const account = await api.send('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} });
  const token = Buffer.from(account.json.status.token).toString('base64url');
  const path = `${configMaps}?watch=true`;
  const anonymous = { ...api, certificates: { ...api.certificates, adminCertificate: '', adminKey: '' } };
  const known = await upgrade(anonymous, 'GET', path, webSocketHeaders(`a.example, ${tokenPrefix}${token}`));
  assert.equal(known.status, 403);
  assert.match((await known.rest()).toString('utf8'), /User \\"system:serviceaccount:default:default\\" cannot watch/);
  const wrong = await upgrade(anonymous, 'GET', path, webSocketHeaders(`a.example, ${tokenPrefix}bm9uc2Vuc2U`));
  assert.equal(wrong.status, 401);
  wrong.close();
});
