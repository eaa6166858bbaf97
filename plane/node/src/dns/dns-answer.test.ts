import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { realWorld } from '@castellan/world';
import packet from 'dns-packet';
import type { ServiceBackends } from '../services/service-backends.js';
import { ServiceTable } from '../services/service-table.js';
import { ClusterZone } from './cluster-zone.js';
import { answerQuery, type DnsNames } from './dns-answer.js';
import { frameMessage, readMessages } from './message-stream.js';
import { Upstream } from './upstream.js';

const { clock } = realWorld();

function service(name: string, rest: Partial<ServiceBackends>): ServiceBackends {
  return {
    ...{ namespace: 'shop', name, clusterIp: undefined, externalName: undefined, ports: [] },
    ...{ affinityMs: undefined, selectsPods: true, staysOnNode: false, entersOwnNode: false },
    ...rest,
  };
}

function names(servers: readonly string[] = []): DnsNames {
  const table = new ServiceTable();
  const backends = Array.from({ length: 40 }, (_, n) => ({
    ...{ address: `10.244.0.${n + 2}`, port: 80, hostname: undefined, node: undefined, isEnding: false },
  }));
  table.replace('shop', [
    service('web', { clusterIp: '10.96.0.7' }),
    service('many', { ports: [{ name: undefined, protocol: 'TCP', port: 80, nodePort: undefined, backends }] }),
    service('inside', { externalName: 'web.shop.svc.cluster.local' }),
    service('outside', { externalName: 'www.example.com' }),
    service('round', { externalName: 'round.shop.svc.cluster.local' }),
  ]);
  const zone = new ClusterZone('cluster.local', table, (address) => address.startsWith('10.'));
  return { zone, upstream: new Upstream(servers, clock) };
}

interface Asked {
  readonly transport?: 'udp' | 'tcp';
  readonly edns?: Partial<packet.OptAnswer>;
  readonly names?: DnsNames;
}

async function ask(name: string, type: packet.RecordType, { transport = 'udp', edns, names: known }: Asked = {}) {
  const additionals = edns === undefined ? [] : [{ ...noOptions, ...edns }];
  const query = packet.encode({
    ...{ type: 'query', id: 7, flags: packet.RECURSION_DESIRED, questions: [{ name, type }], additionals },
  });
  const bytes = await answerQuery(query, transport, known ?? names());
  assert.ok(bytes !== undefined);
  const reply = packet.decode(bytes);
  return {
    bytes,
    reply,
    code: (reply.flags ?? 0) & 0xf,
    /** `TYPE DATA`, in order. */
    answers: (reply.answers ?? []).map((each) => `${each.type} ${'data' in each ? String(each.data) : ''}`),
  };
}

const noOptions: packet.OptAnswer = {
  ...{ type: 'OPT', name: '.', udpPayloadSize: 4_096, extendedRcode: 0 },
  ...{ ednsVersion: 0, flags: 0, flag_do: false, options: [] },
};

/** A name server that answers every question about an address with this one; truncated over UDP if it is told so. */
async function nameServer(t: TestContext, address: string, isTruncated = false): Promise<string> {
  const answer = (query: Buffer, isWhole: boolean) => {
    const { id = 0, questions = [] } = packet.decode(query);
    const record = { type: 'A', name: questions[0]?.name ?? '', ttl: 60, data: address } as const;
    const flags = isWhole ? 0 : packet.TRUNCATED_RESPONSE;
    return packet.encode({ type: 'response', id, flags, questions, answers: isWhole ? [record] : [] });
  };
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => socket.send(answer(query, !isTruncated), from.port, from.address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  const server = createServer((client) =>
    readMessages(client, (query) => client.end(frameMessage(answer(query, true)))),
  );
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    socket.close();
    server.close();
  });
  return `127.0.0.1:${port}`;
}

test('N16 a name that is there and has no address of that kind is no error, one that is not there is; both tell for how long', async () => {
  for (const [name, code] of [
    ['web.shop.svc.cluster.local', 0],
    ['10-244-0-7.shop.pod.cluster.local', 0],
    ['none.shop.svc.cluster.local', 3],
  ] as const) {
    const { code: said, reply, answers } = await ask(name, 'AAAA');
    assert.equal(said, code, name);
    assert.deepEqual(answers, []);
    assert.equal(reply.authorities?.[0]?.type, 'SOA');
  }
  assert.deepEqual((await ask('10-244-0-7.shop.pod.cluster.local', 'A')).answers, ['A 10.244.0.7']);
  assert.equal((await ask('10-244-0-700.shop.pod.cluster.local', 'A')).code, 3);
  assert.deepEqual((await ask('dns-version.cluster.local', 'TXT')).answers, ['TXT 1.1.0']);
});

test('N16 an external name brings along what it leads to, inside and outside', async (t) => {
  const outside = names([await nameServer(t, '192.0.2.7')]);
  assert.deepEqual((await ask('inside.shop.svc.cluster.local', 'A')).answers, [
    'CNAME web.shop.svc.cluster.local',
    'A 10.96.0.7',
  ]);
  assert.deepEqual((await ask('outside.shop.svc.cluster.local', 'A', { names: outside })).answers, [
    'CNAME www.example.com',
    'A 192.0.2.7',
  ]);
  assert.deepEqual((await ask('outside.shop.svc.cluster.local', 'A')).answers, ['CNAME www.example.com']);
  assert.deepEqual((await ask('outside.shop.svc.cluster.local', 'CNAME', { names: outside })).answers, [
    'CNAME www.example.com',
  ]);
  assert.equal((await ask('round.shop.svc.cluster.local', 'A')).code, 2);
});

test('N16 a datagram is as large as its client takes, and at most 1,232 bytes; what does not fit is whole over TCP', async () => {
  const name = 'many.shop.svc.cluster.local';
  const plain = await ask(name, 'A');
  assert.equal(plain.reply.flag_tc, true);
  assert.deepEqual(plain.reply.additionals, []);
  const large = await ask(name, 'A', { edns: { udpPayloadSize: 4_096 } });
  assert.ok(large.bytes.length <= 1_232);
  assert.equal(large.reply.additionals?.[0]?.type, 'OPT');
  assert.equal((await ask(name, 'A', { transport: 'tcp' })).answers.length, 40);
});

test('N16 a version of EDNS that is not known is refused with the one that is', async () => {
  const { reply } = await ask('web.shop.svc.cluster.local', 'A', { edns: { ednsVersion: 1 } });
  const [options] = reply.additionals ?? [];
  assert.ok(options?.type === 'OPT');
  assert.equal(options.extendedRcode, 1);
  assert.equal(options.ednsVersion, 0);
});

test('N32 outside names go to the machine\u2019s name servers: to the next when one is silent, and over TCP as they came', async (t) => {
  const silent = createSocket('udp4');
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const known = names([`127.0.0.1:${silent.address().port}`, await nameServer(t, '192.0.2.8', true)]);
  assert.equal((await ask('www.example.com', 'A', { names: known })).reply.flag_tc, true);
  assert.deepEqual((await ask('www.example.com', 'A', { names: known, transport: 'tcp' })).answers, ['A 192.0.2.8']);
  assert.equal((await ask('www.example.com', 'A')).code, 5, 'refused at once where the machine has none');
});

test('N32 of a flood of outside names most fail at once', async (t) => {
  const silent = createSocket('udp4');
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const upstream = new Upstream([`127.0.0.1:${silent.address().port}`], clock);
  const query = packet.encode({ type: 'query', id: 1, questions: [{ name: 'www.example.com', type: 'A' }] });
  let failed = 0;
  const asked = Array.from({ length: 1_000 }, () =>
    upstream.ask(query, 'udp').then(() => {
      failed += 1;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(failed, 744);
  await Promise.all(asked);
});

test('N16 what cannot be read as a query is answered with an error, and what is none not at all', async () => {
  const known = names();
  const reply = await answerQuery(Buffer.from([0, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 99]), 'udp', known);
  assert.equal(reply?.readUInt16BE(0), 9);
  assert.equal((reply?.readUInt16BE(2) ?? 0) & 0xf, 1);
  assert.equal(await answerQuery(Buffer.alloc(11), 'udp', known), undefined);
  assert.equal(await answerQuery(Buffer.alloc(12, 0xff), 'udp', known), undefined);
  const several = {
    type: 'query',
    id: 1,
    questions: [
      { name: 'a', type: 'A' },
      { name: 'b', type: 'A' },
    ],
  } as const;
  const twice = await answerQuery(packet.encode({ ...several, questions: [...several.questions] }), 'udp', known);
  assert.equal((twice?.readUInt16BE(2) ?? 0) & 0xf, 1);
});
