import type { NamedSet, Ruleset } from '../nftables/ruleset.js';
import { type AddressRange, formatRange } from '../sandbox/address-range.js';
import { type Frontend, frontendKey } from './frontend.js';
import type { Backend } from './service-backends.js';

export interface ServiceRulesNetwork {
  readonly bridge: string;
  readonly gateway: string;
}

/**
 * The base of the table that forwards services: a lookup of address, protocol and port for what comes from pods and from this machine, and
 * nothing else. Replies find their way by the kernel's own record of the connection.
 *
 * The bridge forwards, which the kernel asks for where an address is exchanged; so `forward` lets nothing pass between pods and any
 * other device. UDP has no connections: a frontend's zone is part of what the kernel knows a flow by, and another zone makes the next
 * datagram choose anew.
 */
export function serviceTableBase(table: string, { bridge, gateway }: ServiceRulesNetwork): readonly string[] {
  const hook = (name: string, type: string, at: string, rules: readonly string[]) => [
    `add chain ip ${table} ${name} { type ${type} hook ${at}; policy accept; }`,
    `flush chain ip ${table} ${name}`,
    ...rules.map((rule) => `add rule ip ${table} ${name} ${rule}`),
  ];
  const zone = 'ct original zone set ip daddr . udp dport map @zones';
  const service = 'ip daddr . meta l4proto . th dport vmap @services';
  return [
    `add map ip ${table} services { type ipv4_addr . inet_proto . inet_service : verdict; }`,
    `add map ip ${table} zones { typeof ip daddr . udp dport : ct zone; }`,
    `add set ip ${table} hairpins { type ipv4_addr . ipv4_addr; }`,
    ...hook('zone-of-pods', 'filter', 'prerouting priority raw', [`iifname "${bridge}" ${zone}`]),
    ...hook('zone-of-machine', 'filter', 'output priority raw', [zone]),
    ...hook('from-pods', 'nat', 'prerouting priority dstnat', [`iifname "${bridge}" ${service}`]),
    ...hook('from-machine', 'nat', 'output priority -100', [service]),
    // A pod that reaches itself by a service would answer itself directly, and wait for another address.
    ...hook('to-pods', 'nat', 'postrouting priority srcnat', [`ip saddr . ip daddr @hairpins snat to ${gateway}`]),
    ...hook('forward', 'filter', 'forward priority filter - 10', [
      `iifname "${bridge}" oifname != "${bridge}" drop`,
      `oifname "${bridge}" iifname != "${bridge}" drop`,
    ]),
  ];
}

export interface ServiceRulesContext {
  /** Of each frontend that is UDP, by its key. */
  readonly zones: ReadonlyMap<string, number>;
  /** Of the machine, with the range of their pods' addresses. */
  readonly nodes: readonly { readonly name: string; readonly address: string; readonly podRange: AddressRange }[];
}

/** The rules of frontends, pure. A frontend without backends is left out: its port refuses. */
export function serviceRules(frontends: readonly Frontend[], { zones, nodes }: ServiceRulesContext): Ruleset {
  const sets = new Map<string, NamedSet>();
  const chains = new Map<string, readonly string[]>();
  const [services, hairpins] = [new Map<string, string>(), new Map<string, string>()];
  const flows = new Map<string, string>();
  for (const frontend of frontends) {
    const { address, port, protocol, backends, affinityMs } = frontend;
    const key = frontendKey(frontend);
    if (backends.length === 0 || chains.has(key)) continue;
    services.set(`${address} . ${protocol.toLowerCase()} . ${port}`, `goto ${key}`);
    for (const backend of backends) hairpins.set(`${backend.address} . ${backend.address}`, '');
    if (protocol === 'UDP') flows.set(`${address} . ${port}`, String(zones.get(key) ?? 0));
    const affinity = affinityMs === undefined ? undefined : affinityParts(frontend, key, affinityMs);
    for (const [name, set] of affinity?.sets ?? []) sets.set(name, set);
    for (const [name, rules] of affinity?.chains ?? []) chains.set(name, rules);
    const rulesOf = (some: readonly Backend[]) =>
      affinity === undefined ? turnRules(protocol, some) : affinity.rulesOf(some);
    chains.set(key, frontend.staysOnNode ? nodeRules(backends, nodes, rulesOf) : rulesOf(backends));
  }
  const elements = new Map([
    ['services', services],
    ['hairpins', hairpins],
    ['zones', flows],
  ]);
  return { sets, chains, elements };
}

/** Each node's pods have its own backends; the machine's programs, which call from a node's address, have all. */
function nodeRules(
  backends: readonly Backend[],
  nodes: ServiceRulesContext['nodes'],
  rulesOf: (backends: readonly Backend[]) => readonly string[],
): readonly string[] {
  const machine = `ip saddr { ${nodes.map(({ address }) => address).join(', ')} }`;
  return [
    ...rulesOf(backends).map((rule) => `${machine} ${rule}`),
    ...nodes.flatMap(({ name, podRange }) => {
      const own = backends.filter(({ node }) => node === name);
      return own.length === 0 ? [] : rulesOf(own).map((rule) => `ip saddr ${formatRange(podRange)} ${rule}`);
    }),
  ];
}

function turnRules(protocol: string, backends: readonly Backend[]): readonly string[] {
  const [first] = backends;
  const match = `meta l4proto ${protocol.toLowerCase()}`;
  if (first !== undefined && backends.length === 1) return [`${match} dnat to ${first.address}:${first.port}`];
  const targets = backends.map(({ address, port }, index) => `${index} : ${address} . ${port}`);
  return [`${match} dnat ip to numgen inc mod ${backends.length} map { ${targets.join(', ')} }`];
}

/** Each backend has a set of the clients that stay with it, which forgets them in time. */
function affinityParts({ protocol, backends }: Frontend, key: string, affinityMs: number) {
  const nameOf = ({ address, port }: Backend) => `${key}/${address}/${port}`;
  const declaration = `type ipv4_addr; flags dynamic,timeout; timeout ${affinityMs / 1_000}s;`;
  const dnat = ({ address, port }: Backend) => `meta l4proto ${protocol.toLowerCase()} dnat to ${address}:${port}`;
  return {
    sets: backends.map((each) => [nameOf(each), { declaration, elements: [] }] as const),
    chains: backends.map((each) => [nameOf(each), [`update @${nameOf(each)} { ip saddr } ${dnat(each)}`]] as const),
    rulesOf: (some: readonly Backend[]) => [
      ...some.map((each) => `ip saddr @${nameOf(each)} goto ${nameOf(each)}`),
      `numgen inc mod ${some.length} vmap { ${some.map((each, index) => `${index} : goto ${nameOf(each)}`).join(', ')} }`,
    ],
  };
}
