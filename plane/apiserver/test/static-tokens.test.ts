import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readTokenFile, TokenFileError } from '../src/index.js';
import { type ServerUnderTest, send, startServer } from './server-under-test.js';

let directory: string;
let server: ServerUnderTest;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tokens-'));
  const path = await tokenFile('s3cret,jane,42,"devs,ops"\n\nother, joe ,\n');
  server = await startServer({ staticTokens: await readTokenFile(path) });
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

async function tokenFile(content: string): Promise<string> {
  const path = join(directory, 'tokens.csv');
  await writeFile(path, content);
  return path;
}

async function whoAmI(token: string) {
  const session = connect(server.url, { ca: server.certificates.caCertificate });
  try {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    return await send(session, { method: 'POST', path, body: {}, headers: { authorization: `Bearer ${token}` } });
  } finally {
    session.destroy();
  }
}

test('a token of the file speaks for its user, with groups', async () => {
  assert.deepEqual((await whoAmI('s3cret')).json.status.userInfo, {
    username: 'jane',
    uid: '42',
    groups: ['devs', 'ops', 'system:authenticated'],
  });
  const { userInfo } = (await whoAmI('other')).json.status;
  assert.deepEqual(userInfo, { username: 'joe', groups: ['system:authenticated'] });
  assert.equal((await whoAmI('s3cre')).status, 401);
});

test('a TokenReview knows the tokens of the file, and for whom they are not', async () => {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const known = await server.send('POST', path, { spec: { token: 's3cret' } });
  assert.equal(known.json.status.authenticated, true);
  assert.equal(known.json.status.user.username, 'jane');
  const elsewhere = await server.send('POST', path, { spec: { token: 's3cret', audiences: ['vault'] } });
  assert.equal(elsewhere.json.status.authenticated, undefined);
});

test('a file that says too little is refused with the line', async () => {
  for (const [content, says] of [
    ['a,b,c\nd,e\n', /^line 2: there must be at least three columns/],
    [',b,c\n', /^line 1: the token is empty/],
    ['a,b,c\na,d,e\n', /^line 2: the token is there twice/],
  ] as const) {
    const path = await tokenFile(content);
    await assert.rejects(readTokenFile(path), (error) => error instanceof TokenFileError && says.test(error.message));
  }
  await assert.rejects(readTokenFile(join(directory, 'none')), /ENOENT.*none/);
});
