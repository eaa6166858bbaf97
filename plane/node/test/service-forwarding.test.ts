import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLog } from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { ClusterZone } from '../src/dns/cluster-zone.js';
import { DnsServer } from '../src/dns/dns-server.js';
import { Upstream } from '../src/dns/upstream.js';
import { nodeNetworkAt } from '../src/sandbox/plane-network.js';
import type { PodNetwork } from '../src/sandbox/pod-network.js';
import type { HostPort } from '../src/services/host-ports.js';
import type { Backend, BackendPort, ServiceBackends } from '../src/services/service-backends.js';
import { ServiceProxy, type ServiceProxyMode } from '../src/services/service-proxy.js';
import { ServiceTable } from '../src/services/service-table.js';
import { cannotFilterPods, cannotRunPods, rangesOf, withDataDirectory } from './machine.js';
import { type Caller, podNetworks, startCaller, startServer } from './pod-programs.js';

const port = 8_080;

function skipOf(mode: ServiceProxyMode): string | false {
  return mode === 'nftables' ? cannotFilterPods() : cannotRunPods();
}

function backend({ address }: PodNetwork): Backend {
  return { address, port, hostname: undefined, node: undefined, isEnding: false };
}

function service(
  clusterIp: string,
  backends: readonly PodNetwork[],
  rest: Partial<ServiceBackends> = {},
): ServiceBackends {
  const ports: readonly BackendPort[] = ['TCP', 'UDP'].map((protocol) => ({
    ...{ name: protocol, protocol, port: 80, nodePort: protocol === 'TCP' ? 31_080 : undefined },
    backends: backends.map(backend),
  }));
  return {
    ...{ namespace: 'default', name: `at-${clusterIp}`, clusterIp, externalName: undefined, ports },
    ...{ affinityMs: undefined, selectsPods: true, staysOnNode: false, entersOwnNode: false },
    ...rest,
  };
}

interface Scene {
  readonly pods: readonly [PodNetwork, PodNetwork, PodNetwork];
  readonly gateway: string;
  readonly inPod: Caller;
  readonly onMachine: Caller;
  readonly proxy: ServiceProxy;
  apply(...services: readonly ServiceBackends[]): Promise<void>;
  clusterIp(index: number): string;
}

/** Pods `a` and `b` serve, the third calls. */
async function withScene(t: TestContext, mode: ServiceProxyMode, body: (scene: Scene) => Promise<void>): Promise<void> {
  await withDataDirectory(async (directory) => {
    const { plane, pods } = await podNetworks(directory, 3);
    const [a, b, c] = pods;
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const { clock } = realWorld();
    const log = createLog({ write: () => undefined, world: realWorld() });
    const proxy = new ServiceProxy({ log, clock, apiServer: { host: '127.0.0.1', port: 1 } });
    t.after(() => proxy.close());
    assert.equal(await proxy.start({ ...plane, nodes: [{ name: 'node-a', ...nodeNetworkAt(plane, 0) }] }, mode), mode);
    await Promise.all([startServer(t, a, 'a', port), startServer(t, b, 'b', port)]);
    try {
      await body({
        pods: [a, b, c],
        gateway: plane.gateway,
        inPod: startCaller(t, c),
        onMachine: startCaller(t, undefined),
        proxy,
        apply: async (...services) => {
          assert.deepEqual(await proxy.apply(new Map([['default', { services, hostPorts: [] }]])), []);
        },
        clusterIp: (index) => rangesOf(directory).serviceCidr.replace('0/20', String(index)),
      });
    } finally {
      await proxy.close();
    }
  });
}

async function names(count: number, call: () => Promise<string>): Promise<readonly string[]> {
  const answers: string[] = [];
  for (let done = 0; done < count; done += 1) answers.push((await call()).slice(0, 1));
  return answers.sort();
}

for (const mode of ['nftables', 'user-space'] as const) {
  test(
    `N17 N24 N26 N27 services by ${mode}: TCP in turn, UDP, node ports, and refused where there is none`,
    { skip: skipOf(mode) },
    (t) =>
      withScene(t, mode, async ({ pods: [a, b, c], gateway, inPod, onMachine, apply, clusterIp }) => {
        const address = clusterIp(7);
        await apply(service(address, [a, b]));
        assert.deepEqual(await names(4, () => inPod.call('tcp', address, 80)), ['a', 'a', 'b', 'b']);
        assert.deepEqual(await names(4, () => onMachine.call('tcp', address, 80)), ['a', 'a', 'b', 'b']);
        assert.deepEqual(await names(2, () => inPod.call('tcp', gateway, 31_080)), ['a', 'b']);
        assert.deepEqual(await names(2, () => onMachine.call('tcp', '127.0.0.1', 31_080)), ['a', 'b']);
        const flow = await inPod.call('udp', address, 80);
        assert.match(flow, /^[ab] /);
        assert.equal(await inPod.call('udp', address, 80), flow);
        const left = flow.startsWith('a') ? b : a;
        await apply(service(address, [left]));
        assert.match(await inPod.call('udp', address, 80), flow.startsWith('a') ? /^b / : /^a /);
        assert.match(await onMachine.call('udp', address, 80), flow.startsWith('a') ? /^b / : /^a /);
        // By the kernel a program sees who calls it; else it sees the machine.
        const seen = await inPod.call('tcp', address, 80);
        assert.equal(seen.slice(2), mode === 'nftables' ? c.address : gateway);
        await apply(service(address, []));
        assert.equal(await inPod.call('tcp', address, 80), mode === 'nftables' ? 'ECONNREFUSED' : 'ECONNRESET');
        await apply();
        assert.equal(await inPod.call('tcp', address, 80), 'ECONNREFUSED');
        assert.equal(await onMachine.call('tcp', '127.0.0.1', 31_080), 'ECONNREFUSED');
      }),
  );

  test(
    `N25 N26 services by ${mode}: a client stays with its backend for its time, a pod reaches itself, and nothing goes elsewhere`,
    { skip: skipOf(mode) },
    (t) =>
      withScene(t, mode, async ({ pods: [a, b], inPod, onMachine, apply, clusterIp }) => {
        const affine = service(clusterIp(7), [a, b], { affinityMs: 60_000 });
        await apply(affine, service(clusterIp(8), [a]));
        const first = (await inPod.call('tcp', clusterIp(7), 80)).slice(0, 1);
        assert.deepEqual(await names(3, () => inPod.call('tcp', clusterIp(7), 80)), [first, first, first]);
        const other = (await onMachine.call('tcp', clusterIp(7), 80)).slice(0, 1);
        assert.notEqual(other, first, 'the next client has its turn');
        await apply(affine);
        assert.deepEqual(await names(2, () => inPod.call('tcp', clusterIp(7), 80)), [first, first]);
        await apply(service(clusterIp(7), [first === 'a' ? b : a], { affinityMs: 60_000 }));
        assert.notEqual((await inPod.call('tcp', clusterIp(7), 80)).slice(0, 1), first);
        // By slices that somebody wrote: an address that is neither a pod's nor the machine's gets nothing.
        const elsewhere = { ...a, address: '192.0.2.1' };
        await apply(service(clusterIp(9), [a, elsewhere], { selectsPods: false }));
        assert.deepEqual(await names(3, () => inPod.call('tcp', clusterIp(9), 80)), ['a', 'a', 'a']);
        await apply(service(clusterIp(8), [a]));
        assert.match(await startCaller(t, a).call('tcp', clusterIp(8), 80), /^a /);
      }),
  );
}

test(
  'N33 a host port is on the address of its node and on loopback; the name server\u2019s is nobody\u2019s',
  { skip: cannotFilterPods() },
  (t) =>
    withScene(t, 'nftables', async ({ pods: [a, b], gateway, inPod, onMachine, proxy }) => {
      const of = (pod: PodNetwork, number: number, hostIp = ''): HostPort => ({
        ...{ pod: pod.namespace, node: 'node-a', hostIp, protocol: 'TCP', port: number, backend: backend(pod) },
      });
      const hostPorts = [of(a, 31_081), of(b, 31_082, '127.0.0.1'), of(b, 53, gateway), of(b, 31_081)];
      const name = await DnsServer.listen({
        zone: emptyZone(),
        upstream: new Upstream([], realWorld().clock),
        address: gateway,
      });
      t.after(() => name.close());
      const problems = await proxy.apply(new Map([['default', { services: [], hostPorts }]]));
      assert.deepEqual(
        problems.map(
          ({ frontend, namespace }) => `${namespace} ${frontend.of.name} ${frontend.address}:${frontend.port}`,
        ),
        [`default ${b.namespace} ${gateway}:53`],
      );
      assert.match(await inPod.call('tcp', gateway, 31_081), /^a /);
      assert.match(await onMachine.call('tcp', gateway, 31_081), /^a /);
      assert.match(await onMachine.call('tcp', '127.0.0.1', 31_081), /^a /);
      assert.match(await onMachine.call('tcp', '127.0.0.1', 31_082), /^b /);
      assert.equal(await inPod.call('tcp', gateway, 31_082), 'ECONNREFUSED');
      await proxy.apply(new Map([['default', { services: [], hostPorts: [] }]]));
      assert.equal(await onMachine.call('tcp', '127.0.0.1', 31_081), 'ECONNREFUSED');
    }),
);

function emptyZone(): ClusterZone {
  return new ClusterZone('cluster.local', new ServiceTable(), () => false);
}
