// What the API server does per second over HTTPS and HTTP/2, and how soon a watcher hears of a write.
// The peer is kube-apiserver 1.36.2 with etcd, as it was measured once on such a machine with 2 cores: a figure from
// elsewhere, so the ratio says "about".
//
//     node bench/apiserver.mjs [--quick]        after `npm run build`; the disk is that of the present directory

import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { memoryKeyspace, openEmbeddedKeyspace } from '@castellan/keyspace';
import { realWorld } from '@castellan/world';

const isQuick = process.argv.includes('--quick');
const seconds = isQuick ? 0.5 : 3;
const latencyWrites = isQuick ? 100 : 500;
const PAYLOAD_BYTES = 600;
const peer = { serial: 345, parallel: 600, gets: 1400, watchP50: 2.3, watchP99: 3.8 };

const beforeImport = performance.now();
const { createApiServer, ensureCertificates } = await import('@castellan/apiserver');
row('import of the package', `${(performance.now() - beforeImport).toFixed(0)} ms`);

const scratch = mkdtempSync(join(process.cwd(), '.bench-apiserver-'));
const world = realWorld();
try {
  const beforeCertificates = performance.now();
  const certificates = await ensureCertificates({
    directory: join(scratch, 'certificates'),
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    world,
  });
  row('certificates made', `${(performance.now() - beforeCertificates).toFixed(0)} ms`);
  await bench('memory', memoryKeyspace(world), certificates);
  await bench('embedded', await openEmbeddedKeyspace({ directory: join(scratch, 'data'), world }), certificates);
} finally {
  rmSync(scratch, { recursive: true });
}

async function bench(name, keyspace, certificates) {
  const before = performance.now();
  const server = await createApiServer({ keyspace, world });
  const tls = {
    key: certificates.serverKey,
    certificate: certificates.serverCertificate,
    clientCa: certificates.caCertificate,
  };
  const { url } = await server.listen({ host: '127.0.0.1', port: 0, tls });
  row(`${name}: ready`, `${(performance.now() - before).toFixed(0)} ms`);
  const session = connect(url, {
    ca: certificates.caCertificate,
    key: certificates.adminKey,
    cert: certificates.adminCertificate,
  });
  const creates = (inFlight) => rate(inFlight, (index) => create(session, `${inFlight}-${index}`));
  await creates(8);
  compare(`${name}: creates, 1 in flight`, await rate(1, (index) => create(session, `serial-${index}`)), peer.serial);
  compare(`${name}: creates, 32 in flight`, await creates(32), peer.parallel);
  compare(`${name}: gets, 32 in flight`, await rate(32, () => get(session, 'serial-0')), peer.gets);
  const delays = await watchDelays(session);
  const percentile = (share) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))];
  row(
    `${name}: write → watcher`,
    `p50 ${percentile(0.5).toFixed(2)} ms (peer about ${peer.watchP50})`,
    `p99 ${percentile(0.99).toFixed(2)} ms (peer about ${peer.watchP99})`,
  );
  session.destroy();
  await server.close();
  await keyspace.close();
}

/** How often a second `act` is done, called with 0, 1, 2 … by so many callers at once. */
async function rate(inFlight, act) {
  const begun = performance.now();
  const until = begun + seconds * 1000;
  let next = 0;
  let done = 0;
  const caller = async () => {
    while (performance.now() < until) {
      await act(next++);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return (done * 1000) / (performance.now() - begun);
}

/** Milliseconds from the start of a create until a watcher of the collection has its event. */
async function watchDelays(session) {
  const waiting = new Map();
  const stream = session.request({ ':path': '/api/v1/namespaces/kube-system/configmaps?watch=true&resourceVersion=0' });
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) waiting.get(JSON.parse(line).object.metadata.name)?.();
  });
  await new Promise((resolve) => stream.once('response', resolve));
  const delays = [];
  for (let index = 0; index < latencyWrites; index += 1) {
    const name = `watched-${index}`;
    const begun = performance.now();
    const heard = new Promise((resolve) => waiting.set(name, resolve));
    await Promise.all([heard, create(session, name, 'kube-system')]);
    delays.push(performance.now() - begun);
  }
  stream.close();
  return delays.sort((a, b) => a - b);
}

function create(session, name, namespace = 'default') {
  const body = JSON.stringify({ metadata: { name }, data: { text: 'x'.repeat(PAYLOAD_BYTES) } });
  return send(session, 'POST', `/api/v1/namespaces/${namespace}/configmaps`, body, 201);
}

function get(session, name) {
  return send(session, 'GET', `/api/v1/namespaces/default/configmaps/${name}`, undefined, 200);
}

function send(session, method, path, body, expected) {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ':method': method, ':path': path, 'content-type': 'application/json' },
      { endStream: body === undefined },
    );
    stream.on('response', (headers) => {
      if (headers[':status'] !== expected) reject(new Error(`${method} ${path}: ${headers[':status']}`));
    });
    stream.on('data', () => {});
    stream.on('end', resolve);
    stream.on('error', reject);
    if (body !== undefined) stream.end(body);
  });
}

function compare(name, perSecond, peerPerSecond) {
  row(name, `${perSecond.toFixed(0)}/s`, `about ${(perSecond / peerPerSecond).toFixed(1)} × kube-apiserver with etcd`);
}

function row(name, ...cells) {
  console.log(`${name.padEnd(34)}${cells.join('   ')}`);
}
