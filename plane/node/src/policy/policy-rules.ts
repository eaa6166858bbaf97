import { createHash } from 'node:crypto';
import type { NamedSet, Ruleset } from '../nftables/ruleset.js';
import { addressAt } from '../sandbox/address-range.js';
import type { NumberRange } from './number-ranges.js';
import type { Allowance, AllowedPorts, PolicyPlan } from './policy-plan.js';

type Direction = 'ingress' | 'egress';

/** A packet that its sender may send goes on to `into`, where its receiver's rules are; what those let in is accepted. */
const allowed = { egress: 'goto into', ingress: 'accept' } as const;
/** Of the kernel, for names of chains and sets, with room for what is added. */
const nameLimit = 180;
const wholeInternet: NumberRange = [0, 2 ** 32 - 1];

/**
 * The base of the table of network policies: what pods send each other. What the machine sends, and what is sent to it, is not looked at: a
 * node always reaches its pods, and they their name server. Connections that stand go on.
 */
export function policyTableBase(table: string, bridge: string): readonly string[] {
  const rule = (chain: string, text: string) => `add rule ip ${table} ${chain} ${text}`;
  return [
    `add map ip ${table} egress { type ipv4_addr : verdict; }`,
    `add map ip ${table} ingress { type ipv4_addr : verdict; }`,
    `add chain ip ${table} into`,
    `add chain ip ${table} forward { type filter hook forward priority filter; policy accept; }`,
    `flush chain ip ${table} into`,
    `flush chain ip ${table} forward`,
    rule('into', 'ip daddr vmap @ingress'),
    rule('into', 'accept'),
    rule('forward', `iifname != "${bridge}" accept`),
    rule('forward', 'ct state established,related accept'),
    rule('forward', 'ip saddr vmap @egress'),
    rule('forward', 'goto into'),
  ];
}

/** A plan as rules: a chain for each isolated pod and direction, which asks those of its policies and then drops. Pure. */
export function policyRules(plan: PolicyPlan): Ruleset {
  const sets = new Map<string, NamedSet>();
  const chains = new Map<string, readonly string[]>();
  for (const [key, allowances] of plan.allowances) {
    const direction = key.startsWith('ingress/') ? 'ingress' : 'egress';
    const rules = allowances.flatMap((allowance, index) =>
      allowanceRules(allowance, { direction, prefix: `${chainName(key)}/${index}`, sets }),
    );
    chains.set(chainName(key), rules);
  }
  const verdicts = (direction: Direction) =>
    new Map(
      [...plan[direction]].map(([address, keys]) => {
        const name = `${direction}/${address}`;
        // Nobody keeps a pod from itself.
        const other = direction === 'ingress' ? 'saddr' : 'daddr';
        chains.set(name, [`ip ${other} ${address} accept`, ...keys.map((key) => `jump ${chainName(key)}`), 'drop']);
        return [address, `goto ${name}`] as const;
      }),
    );
  const elements = new Map([
    ['egress', verdicts('egress')],
    ['ingress', verdicts('ingress')],
  ]);
  return { sets, chains, elements };
}

interface AllowanceContext {
  readonly direction: Direction;
  /** Of names of sets. */
  readonly prefix: string;
  readonly sets: Map<string, NamedSet>;
}

function allowanceRules({ peers, ports }: Allowance, { direction, prefix, sets }: AllowanceContext): readonly string[] {
  const verdict = allowed[direction];
  const isEverywhere = peers?.some(([first, last]) => first === wholeInternet[0] && last === wholeInternet[1]) === true;
  const from: string[] = [];
  if (peers !== undefined && !isEverywhere) {
    if (peers.length === 0) return [];
    const name = `${prefix}/peers`;
    sets.set(name, { declaration: 'type ipv4_addr; flags interval;', elements: peers.map(addressElement) });
    from.push(`ip ${direction === 'ingress' ? 'saddr' : 'daddr'} @${name}`);
  }
  if (ports === undefined) return [[...from, verdict].join(' ')];
  return ports
    .flatMap((each) => portRules(each, `${prefix}/${each.protocol.toLowerCase()}`, sets))
    .map((match) => [...from, match, verdict].join(' '));
}

function portRules(
  { protocol, numbers, named }: AllowedPorts,
  name: string,
  sets: Map<string, NamedSet>,
): readonly string[] {
  const match = `meta l4proto ${protocol.toLowerCase()}`;
  if (numbers.some(([first, last]) => first === 0 && last === 65_535)) return [match];
  const byNumber = numbers.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`));
  if (named.length > 0) {
    const elements = [...new Set(named.map(({ address, port }) => `${address} . ${port}`))];
    sets.set(name, { declaration: 'type ipv4_addr . inet_service;', elements });
  }
  return [
    ...(byNumber.length === 0 ? [] : [`${match} th dport { ${byNumber.join(', ')} }`]),
    ...(named.length === 0 ? [] : [`${match} ip daddr . th dport @${name}`]),
  ];
}

function addressElement([first, last]: NumberRange): string {
  const [from, to] = [addressAt({ base: first, prefixLength: 32 }, 0), addressAt({ base: last, prefixLength: 32 }, 0)];
  return from === to ? from : `${from}-${to}`;
}

/** As the policy is called, where that fits. */
function chainName(key: string): string {
  if (key.length <= nameLimit) return key;
  return `${key.slice(0, nameLimit)}/${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
}
