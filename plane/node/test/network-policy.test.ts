import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NetworkPolicy, networkPolicies, pods } from '@castellan/machinery';
import { createLog } from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { PolicyEnforcer } from '../src/policy/policy-enforcer.js';
import { planPolicies } from '../src/policy/policy-plan.js';
import { runCommand } from '../src/sandbox/command.js';
import { isReady, shellPod, startAgent } from './agent-under-test.js';
import { cannotFilterPods, cannotRunPods, until, withDataDirectory } from './machine.js';
import { podNetworks, podNetworkWith, startCaller } from './pod-programs.js';

const skip = cannotFilterPods();

const serve = `exec perl -MIO::Socket::INET -e '
my @servers = map { IO::Socket::INET->new(LocalPort => $_, Listen => 5, ReuseAddr => 1) } (8080, 8081);
fork or shift @servers;
while (my $client = $servers[0]->accept) { print $client "hello " . $client->peerhost . "\\n"; 1 while <$client>; }'`;

test(
  'N29 a policy holds between pods from the moment that it is there until it goes, and not for the node',
  { skip },
  (t) =>
    withDataDirectory(async (directory) => {
      const agent = await startAgent(directory, { withServices: true });
      const { cluster } = agent;
      try {
        const main = { readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } };
        await cluster.create(pods, shellPod('server', serve, { main }));
        await cluster.create(pods, shellPod('friend', 'sleep 1000'));
        await cluster.create(pods, shellPod('stranger', 'sleep 1000'));
        const server = await agent.podThat('server', 'to be ready', isReady);
        const address = server.status?.podIP ?? '';
        const callerOf = async (name: string) => {
          const pod = await agent.podThat(name, 'to be ready', isReady);
          return startCaller(t, podNetworkWith(directory, pod.status?.podIP ?? ''));
        };
        const [friend, stranger, node] = [
          await callerOf('friend'),
          await callerOf('stranger'),
          startCaller(t, undefined),
        ];
        assert.match(await stranger.call('tcp', address, 8080), /^hello /);
        const policy: NetworkPolicy = {
          metadata: { namespace: 'default', name: 'friends' },
          spec: {
            podSelector: { matchLabels: { app: 'server' } },
            ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }], ports: [{ port: 8080 }] }],
          },
        };
        await cluster.create(networkPolicies, policy);
        await until(
          'the stranger to be held back',
          async () => (await stranger.call('tcp', address, 8080)) === 'silence',
        );
        assert.match(await friend.call('tcp', address, 8080), /^hello /);
        assert.equal(await friend.call('tcp', address, 8081), 'silence');
        assert.match(await node.call('tcp', address, 8081), /^hello /);
        await cluster.delete(networkPolicies, { namespace: 'default', name: 'friends' });
        await until('the stranger to be let in', async () => /^hello /.test(await stranger.call('tcp', address, 8080)));
        assert.deepEqual(await agent.eventsOf('friends'), []);
      } finally {
        await agent.stop('stop');
      }
    }),
);

test('N29 a pod has no address besides its own by which policies could be passed by', { skip: cannotRunPods() }, () =>
  withDataDirectory(async (directory) => {
    const { pods: made } = await podNetworks(directory, 1);
    const shown = ['-netns', made[0]?.namespace ?? '', '-o', 'address', 'show', 'dev', 'eth0'];
    const { stdout } = await runCommand('ip', shown);
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/).slice(2, 4).join(' ')),
      [`inet ${made[0]?.address}/24`],
    );
  }),
);

test('N29 the kernel takes every form of rule', { skip }, () =>
  withDataDirectory(async (directory) => {
    const { plane } = await podNetworks(directory, 0);
    const lines: string[] = [];
    const log = createLog({ write: (line) => lines.push(line), world: realWorld() });
    const enforcer = new PolicyEnforcer();
    await enforcer.start(plane.bridge, { log, clock: realWorld().clock });
    const name = 'n'.repeat(253);
    const ports = [{ port: 'web' }, { port: 80 }, { port: 90, endPort: 99 }, { protocol: 'SCTP' }];
    const peers = [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }, { podSelector: {} }];
    const rules = [{ ports }, {}, { ports, from: peers, to: peers }, { from: peers, to: peers }];
    const policy = {
      metadata: { namespace: 'default', name },
      spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: rules, egress: rules },
    };
    const pod = shellPod('web', '');
    const containers = [{ name: 'main', ports: [{ name: 'web', containerPort: 8080 }] }];
    const known = { ...pod, spec: { containers }, status: { podIP: '10.0.0.7' } };
    const full = planPolicies([policy], [known], []);
    await enforcer.apply(full);
    await enforcer.apply(planPolicies([policy], [{ ...known, status: { podIP: '10.0.0.8' } }], []));
    await enforcer.apply(planPolicies([], [], []));
    await enforcer.apply(full);
    assert.deepEqual(lines, []);
    await enforcer.close();
  }),
);

test('N30 where the kernel cannot, each policy has an event that says so', { skip: cannotRunPods() }, () =>
  withDataDirectory(async (directory) => {
    const agent = await startAgent(directory, { serviceProxy: 'user-space' });
    try {
      const metadata = { namespace: 'default', name: 'deny' };
      await agent.cluster.create(networkPolicies, { metadata, spec: { podSelector: {} } });
      await until('the event', async () => (await agent.eventsOf('deny')).length > 0);
      assert.deepEqual(await agent.eventsOf('deny'), [
        'NotEnforced this machine has no packet filter for pods: all traffic between them is let through; next: see `castellan doctor`',
      ]);
    } finally {
      await agent.stop('stop');
    }
  }),
);
