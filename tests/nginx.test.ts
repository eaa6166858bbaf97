import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { deployments, events, pods, services } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { kubectlPrograms } from './kubectl-programs.js';
import { PlaneProcess, repository, world } from './plane-process.js';
import { etcdMissing, RealEtcd } from './real-etcd.js';
import { StartedProgram } from './started-program.js';

const manifest = join(repository, 'examples/nginx/nginx.yml');
const [program = ''] = [...(await kubectlPrograms()).values()].slice(-1);
const skip =
  etcdMissing ||
  (program === '' && 'no kubectl of 1.28 or later is on this machine') ||
  (process.getuid?.() !== 0 && 'the host reaches services as root alone') ||
  (!existsSync('/usr/sbin/nginx') && 'nginx is not on this machine (Debian: apt-get install nginx-light)');

const namespace = 'default';
const name = 'nginx-deployment';
const page = /<title>Welcome to nginx!<\/title>/;
let etcd: RealEtcd | undefined;
let plane: PlaneProcess;

before(async () => {
  if (skip !== false) return;
  etcd = await RealEtcd.start();
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none', '--storage', `etcd://${etcd.endpoint}`]);
});
after(async () => {
  if (skip !== false) return;
  await plane?.remove();
  await etcd?.remove();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args, { program });
  assert.equal(code, 0, `kubectl ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

async function rolledOut(): Promise<void> {
  const status = await kubectl('rollout', 'status', `deployment/${name}`, '--timeout=180s');
  assert.match(status, /deployment "nginx-deployment" successfully rolled out/);
}

test('kubectl create -f nginx.yml becomes a running nginx, by the events and under the keys that the seed shows', {
  skip,
}, async () => {
  assert.equal(await kubectl('create', '-f', manifest), 'deployment.apps/nginx-deployment created\n');
  await rolledOut();
  const client = await plane.client();
  const listed = await kubectl('get', 'pods', '-l', 'app=nginx');
  const pod = /^(nginx-deployment-[a-z0-9]{8,10}-[a-z0-9]{5})\s+1\/1\s+Running/m.exec(listed)?.[1] ?? listed;
  const replicaSet = pod.slice(0, -6);
  const wanted = [
    `Deployment ScalingReplicaSet Scaled up replica set ${replicaSet} from 0 to 1`,
    `ReplicaSet SuccessfulCreate Created pod: ${pod}`,
    `Pod Scheduled Successfully assigned default/${pod} to `,
    'Pod Pulled Container image "nginx:1.14.2" already present on machine',
    'Pod Created Created container nginx',
    'Pod Started Started container nginx',
  ];
  const said = async () =>
    (await client.list(events, { namespace })).items.map(
      ({ involvedObject, reason, message }) => `${involvedObject.kind} ${reason} ${message}`,
    );
  const missing = async () => {
    const all = await said();
    return wanted.filter((text) => !all.some((each) => each.startsWith(text)));
  };
  await waitFor(world, async () => (await missing()).length === 0, { what: 'the events', deadlineMs: 10_000 });
  const keys = (await etcd?.etcdctl(['get', '--prefix', '/registry', '--keys-only']))?.stdout.split('\n') ?? [];
  for (const key of [
    `/registry/deployments/default/${name}`,
    `/registry/replicasets/default/${replicaSet}`,
    `/registry/pods/default/${pod}`,
  ]) {
    assert.ok(keys.includes(key), `${key} is not there`);
  }
  for (const object of [name, replicaSet, pod]) {
    const isEvent = new RegExp(`^/registry/events/default/${object}\\.[0-9a-f]{16}$`);
    assert.ok(
      keys.some((key) => isEvent.test(key)),
      `${isEvent} is not there`,
    );
  }
  assert.match((await said()).join('\n'), /Pod ImageSubstituted wanted nginx 1\.14\.2; this machine has /);
});

test('its pages are served through a Service to another pod, and to the host by port-forward', { skip }, async () => {
  await kubectl('expose', `deployment/${name}`, '--name=web', '--port=80');
  const probe = { httpGet: { path: '/', port: 80 }, periodSeconds: 1 };
  const template = { spec: { containers: [{ name: 'nginx', readinessProbe: probe }] } };
  await kubectl('patch', 'deployment', name, '-p', JSON.stringify({ spec: { replicas: 3, template } }));
  await rolledOut();
  await kubectl('run', 'visitor', '--image=busybox', '--', 'sleep', 'infinity');
  await kubectl('wait', '--for=condition=Ready', 'pod/visitor', '--timeout=30s');
  const fetch = 'exec 3<>/dev/tcp/web/80; printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3';
  assert.match(await kubectl('exec', 'visitor', '--', 'bash', '-c', fetch), page);
  const forward = new StartedProgram(program, [
    ...['--kubeconfig', plane.kubeconfig, 'port-forward', 'service/web', ':80', '--address', '127.0.0.1'],
  ]);
  try {
    const port = () => Number(/127\.0\.0\.1:(\d+) ->/.exec(forward.output)?.[1] ?? 0);
    await waitFor(world, () => port() > 0, { what: 'kubectl port-forward to listen', deadlineMs: 10_000 });
    assert.match(await get('127.0.0.1', port()), page);
  } finally {
    await forward.stop();
  }
});

test('a rolling update and its undoing fail not one of the requests that go on meanwhile', { skip }, async () => {
  const client = await plane.client();
  const address = (await client.get(services, { namespace, name: 'web' })).spec?.clusterIP ?? '';
  const before = new Set((await client.list(pods, { namespace, labelSelector: 'app=nginx' })).items.map(uidOf));
  const loop = requestLoop(address);
  try {
    await kubectl('set', 'image', `deployment/${name}`, 'nginx=nginx:1.16.1');
    await rolledOut();
    const updated = await client.get(deployments, { namespace, name });
    assert.equal(updated.spec?.template.spec?.containers[0]?.image, 'nginx:1.16.1');
    assert.equal(updated.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
    await kubectl('rollout', 'undo', `deployment/${name}`);
    await rolledOut();
    const oldGone = async () => {
      const { items } = await client.list(pods, { namespace, labelSelector: 'app=nginx' });
      return items.length === 3 && !items.some((pod) => before.has(uidOf(pod)));
    };
    await waitFor(world, oldGone, { what: 'three pods, none of them from before', deadlineMs: 180_000 });
  } finally {
    loop.stop();
  }
  const { served, failures } = await loop.ended;
  assert.deepEqual(failures, []);
  assert.ok(served > 100, `${served} requests`);
  assert.match(await kubectl('rollout', 'history', `deployment/${name}`), /^1\s+<none>\n3\s+<none>\n4\s+<none>$/m);
  const undone = await client.get(deployments, { namespace, name });
  assert.equal(undone.spec?.template.spec?.containers[0]?.image, 'nginx:1.14.2');
});

function uidOf({ metadata }: { readonly metadata: { readonly uid?: string } }): string {
  return metadata.uid ?? '';
}

/** Asks for the page again and again, two at once, each over a connection of its own; with pauses, to leave the machine some time. */
function requestLoop(host: string) {
  let isStopped = false;
  let served = 0;
  const failures: string[] = [];
  const ask = async () => {
    while (!isStopped) {
      try {
        assert.match(await get(host, 80), page);
        served += 1;
      } catch (error) {
        failures.push(String(error));
      }
      await pause(20);
    }
  };
  const ended = Promise.all([ask(), ask()]).then(() => ({ served, failures }));
  return {
    ended,
    stop: () => {
      isStopped = true;
    },
  };
}

function get(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, agent: false, timeout: 10_000 }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (chunk) => {
        text += chunk;
      });
      reply.once('end', () => resolve(text));
      reply.once('error', reject);
    });
    sent.once('error', reject);
    sent.once('timeout', () => sent.destroy(new Error(`no answer of ${host} in 10 s`)));
    sent.end();
  });
}
