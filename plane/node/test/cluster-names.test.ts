import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { pods, services } from '@castellan/machinery';
import { realWorld } from '@castellan/world';
import { ClusterZone } from '../src/dns/cluster-zone.js';
import { DnsServer } from '../src/dns/dns-server.js';
import { Upstream } from '../src/dns/upstream.js';
import { ServiceTable } from '../src/services/service-table.js';
import { isReady, shellPod, startAgent } from './agent-under-test.js';
import { cannotRunPods, rangesOf, withDataDirectory } from './machine.js';

const skip = cannotRunPods();

function service(name: string, spec: object) {
  return { metadata: { namespace: 'default', name }, spec: { ports: [{ name: 'main', port: 80 }], ...spec } };
}

test('N16 pods find each other by the names of Kubernetes, over UDP and TCP', { skip }, () =>
  withDataDirectory(async (directory) => {
    const agent = await startAgent(directory, { withServices: true });
    const { cluster } = agent;
    try {
      await cluster.create(
        services,
        service('peers', { clusterIP: 'None', selector: { app: 'a' }, publishNotReadyAddresses: true }),
      );
      await cluster.create(services, service('ready', { clusterIP: 'None', selector: { app: 'a' } }));
      await cluster.create(services, service('outside', { type: 'ExternalName', externalName: 'example.com' }));
      const never = { readinessProbe: { exec: { command: ['false'] } } };
      const lookup =
        'until nslookup a.peers.default.svc >/dev/null 2>&1; do sleep 0.02; done; nslookup a.peers.default.svc; getent hosts a.peers; getent hosts ready.default.svc.cluster.local || echo nothing; sleep 1000';
      await cluster.create(pods, shellPod('a', lookup, { hostname: 'a', subdomain: 'peers', main: never }));
      const pod = await agent.podThat('a', 'to run', ({ status }) => status?.phase === 'Running');
      const ip = pod.status?.podIP ?? '';
      const gateway = pod.status?.hostIP ?? '';
      await agent.logIs(
        'a',
        `Server:    ${gateway}\n\nName:      a.peers.default.svc\nAddress 1: ${ip}\n${ip.padEnd(15)} a.peers.default.svc.cluster.local\nnothing\n`,
      );
      const resolver = new Resolver({ timeout: 10_000, tries: 3 });
      resolver.setServers([gateway]);
      assert.deepEqual(await resolver.resolve4('peers.default.svc.cluster.local'), [ip]);
      assert.deepEqual(await resolver.resolveSrv('_main._tcp.peers.default.svc.cluster.local'), [
        { name: 'a.peers.default.svc.cluster.local', port: 80, priority: 0, weight: 100 },
      ]);
      assert.deepEqual(await resolver.reverse(ip), ['a.peers.default.svc.cluster.local']);
      assert.deepEqual(await resolver.resolveCname('outside.default.svc.cluster.local'), ['example.com']);
      const noName = { code: 'ENOTFOUND' };
      await assert.rejects(resolver.resolve4('none.default.svc.cluster.local'), noName);
      await assert.rejects(resolver.resolve4('b.peers.default.svc.cluster.local'), noName);
    } finally {
      await agent.stop('stop');
    }
  }),
);

test('N16 an answer that does not fit a datagram comes over TCP, and an outside name is refused at once', async () => {
  const table = new ServiceTable();
  const addresses = Array.from({ length: 200 }, (_, index) => `10.244.0.${index + 2}`);
  const backends = addresses.map((address) => ({
    address,
    port: 1,
    hostname: undefined,
    node: undefined,
    isEnding: false,
  }));
  const ports = [{ name: undefined, protocol: 'TCP', port: 1, nodePort: undefined, backends }];
  table.replace('default', [
    {
      ...{ namespace: 'default', name: 'many', clusterIp: undefined, externalName: undefined, ports },
      ...{ affinityMs: undefined, selectsPods: true, staysOnNode: false, entersOwnNode: false },
    },
  ]);
  const zone = new ClusterZone('cluster.local', table, () => false);
  const upstream = new Upstream([], realWorld().clock);
  const server = await DnsServer.listen({ zone, upstream, address: '127.0.0.1', port: 0 });
  try {
    const resolver = new Resolver({ timeout: 10_000, tries: 3 });
    resolver.setServers([`127.0.0.1:${server.port}`]);
    const found = await resolver.resolve4('many.default.svc.cluster.local');
    assert.deepEqual([...found].sort(), [...addresses].sort());
    await assert.rejects(resolver.resolve4('example.com'), { code: 'EREFUSED' });
    const again = DnsServer.listen({ zone, upstream, address: '127.0.0.1', port: server.port });
    await assert.rejects(again, /cluster DNS cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*; next: /);
  } finally {
    await server.close();
  }
});

test(
  'N17 N28 a service address leads to its ready pods from the machine and from pods, never to one that has gone, and to nowhere when there is none',
  { skip },
  () =>
    withDataDirectory(async (directory) => {
      const agent = await startAgent(directory, { withServices: true });
      const { cluster } = agent;
      const addressOf = (host: number) => rangesOf(directory).serviceCidr.replace('0/20', String(host));
      try {
        await cluster.create(
          services,
          service('web', {
            clusterIP: addressOf(7),
            selector: { app: 'web' },
            ports: [{ port: 80, targetPort: 8080 }],
          }),
        );
        const serve = `exec perl -MIO::Socket::INET -e '
$SIG{PIPE} = "IGNORE";
my $server = IO::Socket::INET->new(LocalPort => 8080, Listen => 5, ReuseAddr => 1);
while (my $client = $server->accept) {
  while (<$client>) { last if /^\\r?\\n$/ }
  print $client "HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello";
  close $client;
}'`;
        const main = { readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 } };
        const webPod = (name: string) => {
          const pod = shellPod(name, serve, { main });
          return { ...pod, metadata: { ...pod.metadata, labels: { app: 'web' } } };
        };
        await cluster.create(pods, webPod('web'));
        await agent.podThat('web', 'to be ready', isReady);
        const reply = await fetch(`http://${addressOf(7)}/`, { signal: AbortSignal.timeout(30_000) });
        assert.equal(await reply.text(), 'hello');
        const ask = `exec 3<>/dev/tcp/${addressOf(7)}/80; printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; tail -n 1 <&3`;
        const command = ['/bin/bash', '-c', ask];
        await cluster.create(pods, shellPod('client', ask, { restartPolicy: 'Never', main: { command } }));
        await agent.podThat('client', 'to have succeeded', ({ status }) => status?.phase === 'Succeeded');
        await agent.logIs('client', 'hello');
        await cluster.create(pods, webPod('other'));
        await agent.podThat('other', 'to be ready', isReady);
        const gone = new AbortController();
        const refusals = refusedConnections(addressOf(7), 80, gone.signal);
        await cluster.delete(pods, { namespace: 'default', name: 'web' });
        await agent.podGone('web');
        gone.abort();
        assert.deepEqual(await refusals, []);
        await cluster.delete(pods, { namespace: 'default', name: 'other' });
        await agent.podGone('other');
        await assert.rejects(fetch(`http://${addressOf(7)}/`, { signal: AbortSignal.timeout(30_000) }));
        await assert.rejects(
          fetch(`http://${addressOf(9)}/`, { signal: AbortSignal.timeout(30_000) }),
          'no service there',
        );
      } finally {
        await agent.stop('stop');
      }
    }),
);

test('N16 a name server that there is no way to is no answer, and harms nobody', async () => {
  // 240.0.0.0/4 is reserved: connecting to it fails at once.
  const upstream = new Upstream(['240.0.0.1', '255.255.255.255'], realWorld().clock);
  assert.equal(await upstream.ask(Buffer.alloc(12), 'udp'), undefined);
  assert.equal(await upstream.ask(Buffer.alloc(12), 'tcp'), undefined);
});

/** Connects again and again until aborted; which errors that gave. */
async function refusedConnections(host: string, port: number, signal: AbortSignal): Promise<readonly string[]> {
  const errors: string[] = [];
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port }, () => {
        socket.once('close', () => resolve());
        socket.resume().end('\n');
      });
      socket.once('error', (error: NodeJS.ErrnoException) => {
        // One that is accepted as the program ends is reset: that is the program's to avoid.
        if (error.syscall === 'connect') errors.push(error.message);
        resolve();
      });
    });
  }
  return errors;
}
