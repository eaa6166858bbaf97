import {
  type LabelSelector,
  labelSelectorOf,
  matchesLabels,
  type Namespace,
  type NetworkPolicy,
  type Pod,
} from '@castellan/machinery';
import { parseRange, rangeSize } from '../sandbox/address-range.js';
import { mergeRanges, type NumberRange, withoutRanges } from './number-ranges.js';

/**
 * What the policies of a cluster come to, by addresses: what the packet filter is given (`policy-rules.ts`). A pod that is in neither map
 * is not isolated. A connection is let through when the egress of its sender and the ingress of its receiver let it through.
 */
export interface PolicyPlan {
  /** Names of the allowances that together say what may come to an isolated pod, by its address. */
  readonly ingress: ReadonlyMap<string, readonly string[]>;
  /** The same of what may go from it. */
  readonly egress: ReadonlyMap<string, readonly string[]>;
  readonly allowances: ReadonlyMap<string, readonly Allowance[]>;
}

/** One rule of a policy: peers and ports both have to fit. */
export interface Allowance {
  /** Addresses at the other end, as numbers; `undefined`: any. */
  readonly peers: readonly NumberRange[] | undefined;
  /** `undefined`: any port of any protocol. */
  readonly ports: readonly AllowedPorts[] | undefined;
}

/** By numbers, and by pods' names for ports: those are a number of their own for each pod. */
export interface AllowedPorts {
  readonly protocol: string;
  readonly numbers: readonly NumberRange[];
  readonly named: readonly NamedPort[];
}

export interface NamedPort {
  /** Of the pod that is connected to. */
  readonly address: string;
  readonly port: number;
}

type Spec = NonNullable<NetworkPolicy['spec']>;
type Rule = NonNullable<Spec['ingress']>[number] | NonNullable<Spec['egress']>[number];
type Peer = NonNullable<NonNullable<Spec['ingress']>[number]['from']>[number];
type Port = NonNullable<Rule['ports']>[number];

const everyPort: NumberRange = [0, 65_535];

/**
 * Pods on their node's network have its address: they are neither isolated nor peers, as the node always reaches its pods. What a policy
 * says of pods that have ended, or have no address yet, is of no effect.
 *
 * @throws Error for a selector that the API server would have refused.
 */
export function planPolicies(
  policies: readonly NetworkPolicy[],
  pods: readonly Pod[],
  namespaces: readonly Namespace[],
): PolicyPlan {
  const world: World = { pods: pods.flatMap(peerPod), namespaces };
  const isolated = { ingress: new Map<string, string[]>(), egress: new Map<string, string[]>() };
  const allowances = new Map<string, readonly Allowance[]>();
  for (const policy of policies) {
    const { spec } = policy;
    if (spec === undefined) continue;
    const { namespace = '', name = '' } = policy.metadata;
    const subjects = podsIn(world, (own) => own === namespace, spec.podSelector);
    for (const direction of ['ingress', 'egress'] as const) {
      if (!policyTypes(spec).includes(direction)) continue;
      const key = `${direction}/${namespace}/${name}`;
      const rules: readonly Rule[] = spec[direction] ?? [];
      const receivers = direction === 'ingress' ? subjects : world.pods;
      allowances.set(
        key,
        rules.map((rule) => allowanceOf(rule, { namespace, receivers, world })),
      );
      for (const { address } of subjects)
        isolated[direction].set(address, [...(isolated[direction].get(address) ?? []), key]);
    }
  }
  return { ...isolated, allowances };
}

interface PeerPod {
  readonly address: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
}

interface World {
  readonly pods: readonly PeerPod[];
  readonly namespaces: readonly Namespace[];
}

function peerPod({ metadata, spec, status }: Pod): readonly PeerPod[] {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (status?.podIP === undefined || hasEnded || spec?.hostNetwork === true) return [];
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  return [
    {
      address: status.podIP,
      namespace: metadata.namespace ?? '',
      labels: metadata.labels ?? {},
      ports: ports.flatMap(({ name, protocol = 'TCP', containerPort: port }) =>
        name === undefined ? [] : [{ name, protocol, port }],
      ),
    },
  ];
}

function policyTypes({ policyTypes: types = [], egress = [] }: Spec): readonly string[] {
  if (types.length > 0) return types.map((type) => type.toLowerCase());
  return egress.length > 0 ? ['ingress', 'egress'] : ['ingress'];
}

interface RuleContext {
  /** Of the policy. */
  readonly namespace: string;
  /** Pods whose names for ports may be meant. */
  readonly receivers: readonly PeerPod[];
  readonly world: World;
}

function allowanceOf(rule: Rule, context: RuleContext): Allowance {
  const peers = ('from' in rule ? rule.from : undefined) ?? ('to' in rule ? rule.to : undefined) ?? [];
  const { ports = [] } = rule;
  return {
    peers: peers.length === 0 ? undefined : mergeRanges(peers.flatMap((peer) => peerRanges(peer, context))),
    ports: ports.length === 0 ? undefined : allowedPorts(ports, context.receivers),
  };
}

function peerRanges(
  { ipBlock, podSelector, namespaceSelector }: Peer,
  { namespace, world }: RuleContext,
): readonly NumberRange[] {
  if (ipBlock !== undefined) {
    if (ipBlock.cidr.includes(':')) return [];
    return withoutRanges(
      rangeOf(ipBlock.cidr),
      (ipBlock.except ?? []).filter((cidr) => !cidr.includes(':')).map(rangeOf),
    );
  }
  const isIn =
    namespaceSelector === undefined
      ? (name: string) => name === namespace
      : namespacesThat(world, labelSelectorOf(namespaceSelector));
  return podsIn(world, isIn, podSelector ?? {}).map(({ address }) => rangeOf(address));
}

function namespacesThat({ namespaces }: World, selector: LabelSelector): (name: string) => boolean {
  const chosen = new Set(
    namespaces.filter(({ metadata }) => matchesLabels(selector, metadata.labels)).map(({ metadata }) => metadata.name),
  );
  return (name) => chosen.has(name);
}

function podsIn(
  { pods }: World,
  isIn: (namespace: string) => boolean,
  podSelector: Spec['podSelector'],
): readonly PeerPod[] {
  const selector = labelSelectorOf(podSelector);
  return pods.filter(({ namespace, labels }) => isIn(namespace) && matchesLabels(selector, labels));
}

function allowedPorts(ports: readonly Port[], receivers: readonly PeerPod[]): readonly AllowedPorts[] {
  const protocols = [...new Set(ports.map(({ protocol = 'TCP' }) => protocol))];
  return protocols.map((protocol) => {
    const own = ports.filter((port) => (port.protocol ?? 'TCP') === protocol);
    const numbers = own.flatMap(({ port, endPort }): readonly NumberRange[] => {
      if (port === undefined) return [everyPort];
      return typeof port === 'number' ? [[port, endPort ?? port]] : [];
    });
    const names = new Set(own.map(({ port }) => port));
    const named = receivers.flatMap(({ address, ports: known }) =>
      known.filter((port) => port.protocol === protocol && names.has(port.name)).map(({ port }) => ({ address, port })),
    );
    return { protocol, numbers: mergeRanges(numbers), named };
  });
}

function rangeOf(cidr: string): NumberRange {
  const range = parseRange(cidr);
  return [range.base, range.base + rangeSize(range) - 1];
}
