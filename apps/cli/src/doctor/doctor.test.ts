import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { checkPlane } from './check-plane.js';
import { checkSurroundings } from './check-surroundings.js';

const surroundings = { dataDirectory: tmpdir(), port: 0, isPlaneRunning: false, isRoot: true };

test('a data directory that cannot be made is judged by the nearest one that is there', async () => {
  const findings = await checkSurroundings({ ...surroundings, dataDirectory: `${tmpdir()}/not/there/yet` });
  assert.equal(findings.find(({ subject }) => subject === 'data directory')?.severity, 'ok');
  assert.match(findings[1]?.evidence ?? '', /not\/there\/yet, [\d.]+ GiB free/);
});

test('a port that another process has is said, unless it is our own plane', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  try {
    const { port } = address;
    const isAbout = ({ subject }: { readonly subject: string }) => subject === `port ${port}`;
    assert.equal((await checkSurroundings({ ...surroundings, port })).find(isAbout)?.severity, 'warning');
    assert.equal((await checkSurroundings({ ...surroundings, port, isPlaneRunning: true })).find(isAbout), undefined);
  } finally {
    server.close();
  }
});

test('each thing of a plane that is not well has its reason and a command to look further', () => {
  const findings = checkPlane(
    {
      plane: { url: 'https://127.0.0.1:1', isReady: true, dataDirectory: '/d', pid: 1 },
      nodes: [{ name: 'n', isReady: false, reason: 'it has not reported yet' }],
      etcd: [],
      pods: [
        { namespace: 'default', name: 'a', state: 'Running', address: '', node: 'n' },
        { namespace: 'default', name: 'b', state: 'ErrImagePull: no such etcd', address: '', node: 'n' },
      ],
    },
    'kubectl',
  );
  assert.deepEqual(
    findings.map(({ severity, subject, evidence, next = '' }) => [severity, subject, evidence, next]),
    [
      ['ok', 'API server', 'ready at https://127.0.0.1:1', ''],
      ['problem', 'node n', 'it has not reported yet', 'kubectl describe node n'],
      ['warning', 'pod default/b', 'ErrImagePull: no such etcd', 'kubectl -n default describe pod b'],
    ],
  );
});
