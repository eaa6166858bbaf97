import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Pod, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { castellanProgram, PlaneProcess, world } from './plane-process.js';
import { StartedProgram } from './started-program.js';

const skip =
  process.getuid?.() === 0 && existsSync('/usr/sbin/nft') && existsSync('/proc/sys/net/bridge/bridge-nf-call-iptables')
    ? false
    : 'needs root, nftables and br_netfilter: apt-get install nftables; modprobe br_netfilter';

let plane: PlaneProcess;

/** Says its pod's name before each line that it is sent. */
const serve = `exec perl -MIO::Socket::INET -e '
$SIG{CHLD} = "IGNORE";
my $server = IO::Socket::INET->new(LocalPort => 8080, Listen => 20, ReuseAddr => 1);
while (my $client = $server->accept) {
  next if fork;
  print $client "$ENV{HOSTNAME} $_" while <$client>;
  exit;
}'`;

/** Ten lines a second over one connection to the service; `lost` as soon as one is not answered. */
const talk =
  'exec 3<>/dev/tcp/web/80; for n in $(seq 100000); do echo "$n" >&3; read -t 10 line <&3 || { echo lost; exit 1; }; echo "$line"; sleep 0.1; done';
/** A new connection for each line, with what came of it. */
const knock =
  'while true; do timeout 1 bash -c "exec 3<>/dev/tcp/web/80; echo hello >&3; read -t 1 line <&3 && echo heard" 2>/dev/null || echo nothing; sleep 0.1; done';

const objects = [
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'default', name: 'web' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              ...{ name: 'main', image: 'busybox:1.36', command: ['/bin/sh', '-c', serve] },
              readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'default', name: 'web' } },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
];

const policy = {
  ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { namespace: 'default', name: 'friends' } },
  spec: {
    podSelector: { matchLabels: { app: 'web' } },
    ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }], ports: [{ port: 8080 }] }],
  },
};

before(async () => {
  if (skip !== false) return;
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none', '--nodes', '2']);
  await plane.apply({ text: objects.map((object) => JSON.stringify(object)).join('\n---\n') });
  const available = await plane.kubectl(['wait', '--for=condition=Available', 'deploy/web', '--timeout=60s']);
  assert.equal(available.code, 0, available.stderr);
});
after(async () => await plane?.remove());

async function run(name: string, script: string): Promise<void> {
  const container = { name: 'main', image: 'busybox:1.36', command: ['/bin/bash', '-c', script] };
  const metadata = { namespace: 'default', name, labels: { app: name } };
  const spec = { terminationGracePeriodSeconds: 0, containers: [container] };
  await (await plane.client()).create<Pod>(pods, { metadata, spec });
}

/** Waits until the pod's log is so. */
async function logThat(name: string, what: string, condition: (lines: readonly string[]) => boolean): Promise<void> {
  let last: readonly string[] = [];
  const isThere = async () => {
    const { text } = await plane.read(`/api/v1/namespaces/default/pods/${name}/log`);
    last = text.trimEnd().split('\n');
    return condition(last);
  };
  await waitFor(world, isThere, { what: `the log of ${name} ${what}`, deadlineMs: 60_000 }).catch((error: Error) => {
    throw new Error(`${error.message}; it ends with ${last.slice(-3).join(' | ')}`);
  });
}

test('a network policy holds for services too: who is named gets through, nobody else, until it is deleted', {
  skip,
}, async () => {
  await run('stranger', knock);
  await logThat('stranger', 'to be answered', (lines) => lines.at(-1) === 'heard');
  await plane.apply({ text: JSON.stringify(policy) });
  await run('friend', knock);
  await logThat('stranger', 'to be held back', (lines) => lines.at(-1) === 'nothing');
  await logThat('friend', 'to be answered', (lines) => lines.at(-1) === 'heard');
  const deleted = await plane.kubectl(['delete', 'networkpolicy', 'friends']);
  assert.equal(deleted.code, 0, deleted.stderr);
  await logThat('stranger', 'to be answered again', (lines) => lines.at(-1) === 'heard');
});

test('a connection to a service outlives the plane, and every pod of the service is reached after it', {
  skip,
}, async () => {
  await run('talker', talk);
  let before = 0;
  await logThat('talker', 'to be answered', (lines) => {
    before = lines.length;
    return before > 3;
  });
  await plane.kill();
  await plane.up();
  await logThat('talker', 'to go on', (lines) => lines.length > before + 5);
  await logThat('talker', 'to have one server all the time', (lines) => new Set(lines.map(serverOf)).size === 1);
});

function serverOf(line: string): string {
  return line.split(' ')[0] ?? '';
}

test('castellan proxy leads to services, and lets no page of another site through', { skip }, async (t) => {
  const proxy = new StartedProgram(process.execPath, [
    castellanProgram,
    ...['proxy', '--port', '0', '--data-dir', plane.directory],
  ]);
  t.after(() => proxy.stop());
  const url = await waitFor(world, async () => /http:\/\/127\.0\.0\.1:\d+/.exec(proxy.output)?.[0], {
    what: 'castellan proxy to say where it is',
    deadlineMs: 30_000,
  });
  const listed = await fetch(`${url}/api/v1/namespaces/default/services/web`);
  assert.equal(listed.status, 200);
  const refused = await fetch(`${url}/api`, { headers: { origin: 'https://example.com' } });
  assert.equal(refused.status, 403);
});
