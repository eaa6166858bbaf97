import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { isConditionTrue, type Pod, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { PlaneProcess, world } from './plane-process.js';

const asRoot = process.getuid?.() === 0 ? false : 'the host reaches pods as root alone';
const noPrometheus = asRoot || (existsSync('/usr/bin/prometheus') ? false : 'no prometheus on this machine');
const noZooKeeper = asRoot || (existsSync('/usr/share/zookeeper') ? false : 'no zookeeper on this machine');
let plane: PlaneProcess;

before(async () => {
  if (noPrometheus !== false && noZooKeeper !== false) return;
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none']);
});
after(async () => await plane?.remove());

type Containers = NonNullable<Pod['spec']>['containers'];

/** The pod when it is ready. */
async function ready(name: string, container: Omit<Containers[number], 'name'>): Promise<Pod> {
  const client = await plane.client();
  const metadata = { namespace: 'default', name };
  const spec = { containers: [{ name: 'main', ...container }] };
  await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  const isReady = async () => {
    const found = await client.get(pods, metadata);
    return isConditionTrue(found.status?.conditions, 'Ready') ? found : undefined;
  };
  return await waitFor(world, isReady, { what: `pod ${name} to be ready`, deadlineMs: 60_000 });
}

test('prom/prometheus is a Prometheus that answers on its port', { skip: noPrometheus }, async () => {
  const readinessProbe = { httpGet: { path: '/-/ready', port: 9090 }, periodSeconds: 1 };
  const pod = await ready('prometheus', { image: 'prom/prometheus', readinessProbe });
  const reply = await fetch(`http://${pod.status?.podIP}:9090/api/v1/status/config`);
  assert.match(await reply.text(), /job_name: prometheus/);
  assert.match(pod.status?.containerStatuses?.[0]?.imageID ?? '', /usr\/bin\/prometheus@2\./);
});

test('zookeeper is a ZooKeeper that is set up by the variables of the official image', {
  skip: noZooKeeper,
}, async () => {
  const env = Object.entries({
    ZOO_MY_ID: '7',
    ZOO_SERVERS: 'server.7=localhost:2888:3888;2181',
    ZOO_STANDALONE_ENABLED: 'true',
    ZOO_TICK_TIME: '1500',
    ZOO_4LW_COMMANDS_WHITELIST: 'conf,srvr',
    ZK_SERVER_HEAP: '64',
  }).map(([name, value]) => ({ name, value }));
  const readinessProbe = { tcpSocket: { port: 2181 }, periodSeconds: 1 };
  const pod = await ready('zookeeper', { image: 'zookeeper', env, readinessProbe });
  const address = pod.status?.podIP ?? '';
  assert.match(await ask(address, 'srvr'), /^Mode: standalone$/m);
  const conf = await ask(address, 'conf');
  assert.match(conf, /^tickTime=1500$/m);
  assert.match(conf, /^dataDir=\/data\/version-2$/m);
  const written = await plane.kubectl(['exec', 'zookeeper', '--', 'cat', '/data/myid']);
  assert.equal(written.stdout, '7\n');
});

/** One of ZooKeeper's four-letter words. */
function ask(host: string, word: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 2181, timeout: 10_000 }, () => socket.write(word));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.once('end', () => resolve(text));
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error(`no answer to ${word} in 10 s`)));
  });
}
