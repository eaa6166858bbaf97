import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Namespace, NetworkPolicy, Pod } from '@castellan/machinery';
import fc from 'fast-check';
import type { Ruleset } from '../nftables/ruleset.js';
import { mergeRanges, withoutRanges } from './number-ranges.js';
import { planPolicies } from './policy-plan.js';
import { policyRules } from './policy-rules.js';

interface Packet {
  readonly from: string;
  readonly to: string;
  readonly protocol: string;
  readonly port: number;
}

type Spec = NonNullable<NetworkPolicy['spec']>;

function pod(namespace: string, name: string, address: string, labels: Readonly<Record<string, string>> = {}): Pod {
  const ports = [{ name: 'web', containerPort: Number(address.split('.')[3]) + 8_000 }];
  return {
    metadata: { namespace, name, labels },
    spec: { containers: [{ name: 'main', ports }] },
    status: { phase: 'Running', podIP: address },
  };
}

function policy(name: string, spec: Partial<Spec>, namespace = 'a'): NetworkPolicy {
  return { metadata: { namespace, name }, spec: { podSelector: {}, ...spec } };
}

function namespace(name: string, labels: Readonly<Record<string, string>> = {}): Namespace {
  return { metadata: { name, labels } };
}

const pods = [
  pod('a', 'one', '10.0.0.1', { app: 'web' }),
  pod('a', 'two', '10.0.0.2', { app: 'db' }),
  pod('b', 'three', '10.0.0.3', { app: 'web' }),
  pod('b', 'four', '10.0.0.4', {}),
];
const namespaces = [namespace('a', { team: 'x' }), namespace('b', { team: 'y' })];

/** What the rules do with a packet: a small packet filter, of the words that `policyRules` uses. */
function passes(rules: Ruleset, packet: Packet): boolean {
  const run = (chain: string): 'accept' | 'drop' | 'next' => {
    for (const rule of rules.chains.get(chain) ?? []) {
      const verdict = verdictOf(rule);
      if (verdict === 'accept' || verdict === 'drop') return verdict;
      if (verdict === 'into') return into();
      if (verdict === undefined) continue;
      const inner = run(verdict);
      if (inner !== 'next') return inner;
    }
    return 'next';
  };
  const goto = (map: 'egress' | 'ingress', address: string) =>
    rules.elements.get(map)?.get(address)?.replace('goto ', '');
  const into = () => {
    const chain = goto('ingress', packet.to);
    return chain === undefined ? 'accept' : run(chain);
  };
  /** A verdict, a chain to jump to, or `undefined` when the rule does not fit. */
  const verdictOf = (rule: string): string | undefined => {
    const [, matches = '', verdict = ''] = /^(.*?)\s*(accept|drop|goto into|jump \S+)$/.exec(rule) ?? assert.fail(rule);
    return fits(matches) ? verdict.replace(/^(goto|jump) /, '') : undefined;
  };
  const fits = (matches: string): boolean => {
    if (matches === '') return true;
    const [, end, is, protocol, numbers, named, rest = ''] =
      /^(?:ip ([sd]addr) ([^ .]\S*)|meta l4proto (\S+)|th dport \{ (.*?) \}|ip daddr \. th dport (\S+)) ?(.*)$/.exec(
        matches,
      ) ?? assert.fail(matches);
    const known =
      (end !== undefined && is !== undefined && isAddress(end === 'saddr' ? packet.from : packet.to, is)) ||
      (protocol !== undefined && protocol === packet.protocol.toLowerCase()) ||
      numbers?.split(', ').some((each) => isBetween(packet.port, each, Number)) ||
      (named !== undefined && elementsOf(named).includes(`${packet.to} . ${packet.port}`));
    return known && fits(rest);
  };
  const elementsOf = (reference: string) => rules.sets.get(reference.slice(1))?.elements ?? assert.fail(reference);
  const isAddress = (address: string, wanted: string) =>
    wanted.startsWith('@')
      ? elementsOf(wanted).some((each) => isBetween(numberOf(address), each, numberOf))
      : wanted === address;
  const chain = goto('egress', packet.from);
  return (chain === undefined ? into() : run(chain)) === 'accept';
}

function isBetween(number: number, element: string, parse: (text: string) => number): boolean {
  const [first = '', last = first] = element.split('-');
  return number >= parse(first) && number <= parse(last);
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
}

function passesUnder(policies: readonly NetworkPolicy[], packet: Partial<Packet>): boolean {
  const whole = { from: '10.0.0.1', to: '10.0.0.2', protocol: 'TCP', port: 80, ...packet };
  return passes(policyRules(planPolicies(policies, pods, namespaces)), whole);
}

const cases: readonly {
  readonly name: string;
  readonly policies: readonly NetworkPolicy[];
  readonly passes: readonly Partial<Packet>[];
  readonly dropped: readonly Partial<Packet>[];
}[] = [
  {
    name: 'without policies everything passes, and so it does where none selects the pod',
    policies: [policy('db', { podSelector: { matchLabels: { app: 'other' } } })],
    passes: [{}, { from: '10.0.0.4' }],
    dropped: [],
  },
  {
    name: 'a policy without rules lets nothing in, and everything out; a pod still reaches itself',
    policies: [policy('deny', {})],
    passes: [{ to: '10.0.0.3' }, { to: '10.0.0.1' }],
    dropped: [{}, { from: '10.0.0.3' }],
  },
  {
    name: 'a policy of egress holds back what goes out, and nothing that comes in',
    policies: [policy('deny', { policyTypes: ['Egress'] })],
    passes: [{ from: '10.0.0.3' }],
    dropped: [{}, { to: '10.0.0.3' }],
  },
  {
    name: 'without policyTypes, rules of egress make it one of both',
    policies: [policy('both', { egress: [{}] })],
    passes: [{ to: '10.0.0.3' }],
    dropped: [{}],
  },
  {
    name: 'a pod selector is of the namespace of the policy, with a namespace selector of those that it chooses',
    policies: [
      policy('in', {
        podSelector: { matchLabels: { app: 'db' } },
        ingress: [
          { from: [{ podSelector: { matchLabels: { app: 'web' } } }] },
          {
            from: [
              {
                namespaceSelector: { matchLabels: { team: 'y' } },
                podSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] },
              },
            ],
          },
        ],
      }),
    ],
    passes: [{}, { from: '10.0.0.4' }],
    dropped: [{ from: '10.0.0.3' }],
  },
  {
    name: 'blocks of addresses, without their exceptions',
    policies: [
      policy('block', { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/29', except: ['10.0.0.3/32'] } }] }] }),
    ],
    passes: [{}, { from: '10.0.0.4' }, { from: '10.0.0.7' }],
    dropped: [{ from: '10.0.0.3' }, { from: '10.0.0.8' }],
  },
  {
    name: 'ports by number, by range and by the name that the receiving pod gives one',
    policies: [
      policy('ports', {
        ingress: [{ ports: [{ port: 80 }, { port: 90, endPort: 95 }, { port: 'web' }, { protocol: 'UDP' }] }],
      }),
    ],
    passes: [{}, { port: 93 }, { port: 8_002 }, { protocol: 'UDP', port: 7 }],
    dropped: [{ port: 81 }, { port: 96 }, { port: 8_001 }, { protocol: 'SCTP' }],
  },
  {
    name: 'a name of a port in a rule of egress is each receiver\u2019s own',
    policies: [policy('out', { policyTypes: ['Egress'], egress: [{ ports: [{ port: 'web' }] }] })],
    passes: [
      { to: '10.0.0.2', port: 8_002 },
      { to: '10.0.0.3', port: 8_003 },
    ],
    dropped: [{ to: '10.0.0.2', port: 8_003 }],
  },
  {
    name: 'policies add up, and both ends have to agree',
    policies: [
      policy('in', { ingress: [{ ports: [{ port: 80 }] }] }),
      policy('more', { ingress: [{ ports: [{ port: 81 }] }] }),
      policy('out', { policyTypes: ['Egress'], egress: [{ ports: [{ port: 81 }] }] }),
    ],
    passes: [{ port: 81 }, { from: '10.0.0.3', port: 80 }],
    dropped: [{ port: 80 }, { from: '10.0.0.3', port: 82 }],
  },
];

for (const { name, policies, ...packets } of cases) {
  test(`N29 ${name}`, () => {
    for (const packet of packets.passes) assert.equal(passesUnder(policies, packet), true, JSON.stringify(packet));
    for (const packet of packets.dropped) assert.equal(passesUnder(policies, packet), false, JSON.stringify(packet));
  });
}

/** The same by the words of the API, one packet at a time. */
function isAllowed(policies: readonly NetworkPolicy[], packet: Packet): boolean {
  const [sender, receiver] = [packet.from, packet.to].map((address) =>
    pods.find(({ status }) => status?.podIP === address),
  );
  if (packet.from === packet.to) return true;
  const labelsOf = (name: string | undefined) =>
    namespaces.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {};
  const has = (selector: Spec['podSelector'], labels: Readonly<Record<string, string>> = {}) =>
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  const lets = (subject: Pod | undefined, type: 'Ingress' | 'Egress', other: Pod | undefined, address: string) => {
    const applying = policies.filter(
      ({ metadata, spec }) =>
        subject !== undefined &&
        spec?.policyTypes?.includes(type) === true &&
        metadata.namespace === subject.metadata.namespace &&
        has(spec.podSelector, subject.metadata.labels),
    );
    if (applying.length === 0) return true;
    return applying.some(({ metadata, spec }) =>
      (type === 'Ingress' ? (spec?.ingress ?? []) : (spec?.egress ?? [])).some((rule) => {
        const peers = ('from' in rule ? rule.from : undefined) ?? ('to' in rule ? rule.to : undefined) ?? [];
        const isPeer = peers.some(({ ipBlock, podSelector, namespaceSelector }) => {
          if (ipBlock !== undefined) {
            const inside = (cidr: string) => {
              const [base = '', length = '32'] = cidr.split('/');
              const size = 2 ** (32 - Number(length));
              return Math.floor(numberOf(base) / size) === Math.floor(numberOf(address) / size);
            };
            return inside(ipBlock.cidr) && !(ipBlock.except ?? []).some(inside);
          }
          if (other === undefined) return false;
          const isThere =
            namespaceSelector === undefined
              ? other.metadata.namespace === metadata.namespace
              : has(namespaceSelector, labelsOf(other.metadata.namespace));
          return isThere && has(podSelector ?? {}, other.metadata.labels);
        });
        const target = receiver?.spec?.containers?.[0]?.ports?.[0];
        const isPort = (rule.ports ?? []).some(({ protocol = 'TCP', port, endPort }) => {
          if (protocol !== packet.protocol) return false;
          if (port === undefined) return true;
          if (typeof port === 'number') return packet.port >= port && packet.port <= (endPort ?? port);
          return target?.name === port && protocol === 'TCP' && target.containerPort === packet.port;
        });
        return (peers.length === 0 || isPeer) && ((rule.ports ?? []).length === 0 || isPort);
      }),
    );
  };
  return lets(sender, 'Egress', receiver, packet.to) && lets(receiver, 'Ingress', sender, packet.from);
}

const selectors = fc.constantFrom<Spec['podSelector']>(
  {},
  { matchLabels: { app: 'web' } },
  { matchLabels: { app: 'db' } },
);
const peers = fc.oneof(
  selectors.map((podSelector) => ({ podSelector })),
  fc.constantFrom({}, { matchLabels: { team: 'x' } }).map((namespaceSelector) => ({ namespaceSelector })),
  fc.constant({ namespaceSelector: { matchLabels: { team: 'y' } }, podSelector: { matchLabels: { app: 'web' } } }),
  fc
    .constantFrom('10.0.0.2/31', '0.0.0.0/0', '10.0.0.8/30')
    .chain((cidr) => fc.subarray(['10.0.0.2/32', '10.0.0.9/32']).map((except) => ({ ipBlock: { cidr, except } }))),
);
const ports = fc.constantFrom(
  { port: 80 },
  { port: 79, endPort: 82 },
  { port: 'web' },
  { protocol: 'UDP', port: 80 },
  { protocol: 'UDP' },
  {},
);
const rules = fc.record({ peers: fc.array(peers, { maxLength: 2 }), ports: fc.array(ports, { maxLength: 2 }) });
const anyPolicies = fc.array(
  fc.record({
    namespace: fc.constantFrom('a', 'b'),
    podSelector: selectors,
    policyTypes: fc.subarray(['Ingress', 'Egress'], { minLength: 1 }),
    ingress: fc.array(rules, { maxLength: 2 }),
    egress: fc.array(rules, { maxLength: 2 }),
  }),
  { maxLength: 4 },
);

test('N29 the rules let through what the policies let through, for any policies and packets', () => {
  const addresses = [...pods.flatMap(({ status }) => status?.podIP ?? []), '10.0.0.9'];
  const packets = addresses.flatMap((from) =>
    addresses.flatMap((to) =>
      [80, 81, 8_002, 8_003].flatMap((port) => ['TCP', 'UDP'].map((protocol) => ({ from, to, protocol, port }))),
    ),
  );
  fc.assert(
    fc.property(anyPolicies, (drafts) => {
      const policies = drafts.map(({ namespace: own, ingress, egress, ...spec }, index) =>
        policy(
          `p${index}`,
          {
            ...spec,
            ingress: ingress.map(({ peers: from, ...rest }) => ({ from, ...rest })),
            egress: egress.map(({ peers: to, ...rest }) => ({ to, ...rest })),
          },
          own,
        ),
      );
      const ruleset = policyRules(planPolicies(policies, pods, namespaces));
      for (const packet of packets) {
        assert.equal(passes(ruleset, packet), isAllowed(policies, packet), JSON.stringify({ packet, policies }));
      }
    }),
    { numRuns: 300 },
  );
});

test('N29 pods on their node\u2019s network and pods that have ended are neither isolated nor peers', () => {
  const [one, two] = pods;
  assert.ok(one !== undefined && two !== undefined);
  const others = [
    { ...one, spec: { ...one.spec, containers: [], hostNetwork: true } },
    { ...two, status: { ...two.status, phase: 'Succeeded' } },
  ];
  const plan = planPolicies([policy('deny', { ingress: [{ from: [{ podSelector: {} }] }] })], others, namespaces);
  assert.equal(plan.ingress.size, 0);
  assert.deepEqual(plan.allowances.get('ingress/a/deny'), [{ peers: [], ports: undefined }]);
});

test('ranges are merged where they touch, and cut where others are taken out', () => {
  assert.deepEqual(
    mergeRanges([
      [5, 6],
      [1, 2],
      [3, 3],
      [6, 9],
    ]),
    [
      [1, 3],
      [5, 9],
    ],
  );
  assert.deepEqual(
    withoutRanges(
      [0, 10],
      [
        [3, 4],
        [0, 0],
        [9, 20],
      ],
    ),
    [
      [1, 2],
      [5, 8],
    ],
  );
  assert.deepEqual(withoutRanges([0, 10], [[0, 10]]), []);
});
