import type { Node, Pod, Toleration } from '@castellan/machinery';

export interface NodeFacts {
  readonly cpu?: string;
  readonly memory?: string;
  readonly pods?: string;
  readonly ready?: 'True' | 'False' | 'Unknown';
  readonly cordoned?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

export function node(name: string, facts: NodeFacts = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: facts.labels ?? {} },
    spec: {
      ...(facts.cordoned === undefined ? {} : { unschedulable: facts.cordoned }),
      ...(facts.taints === undefined ? {} : { taints: facts.taints }),
    },
    status: {
      allocatable: { cpu: facts.cpu ?? '4', memory: facts.memory ?? '8Gi', pods: facts.pods ?? '110' },
      conditions: [{ type: 'Ready', status: facts.ready ?? 'True' }],
    },
  };
}

export interface PodFacts {
  readonly cpu?: string;
  readonly memory?: string;
  readonly nodeName?: string;
  readonly controller?: string;
  readonly hostPort?: number;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
  readonly phase?: string;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
  readonly metadata?: Pod['metadata'];
}

export function pod(name: string, facts: PodFacts = {}): Pod {
  const requests = {
    ...(facts.cpu === undefined ? {} : { cpu: facts.cpu }),
    ...(facts.memory === undefined ? {} : { memory: facts.memory }),
  };
  const owner = { apiVersion: 'v1', kind: 'Thing', name: 'thing', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      ...(facts.controller === undefined ? {} : { ownerReferences: [{ ...owner, uid: facts.controller }] }),
      ...facts.metadata,
    },
    spec: {
      containers: [
        {
          name: 'main',
          resources: { requests },
          ...(facts.hostPort === undefined ? {} : { ports: [{ containerPort: 1, hostPort: facts.hostPort }] }),
        },
      ],
      ...(facts.nodeName === undefined ? {} : { nodeName: facts.nodeName }),
      ...(facts.nodeSelector === undefined ? {} : { nodeSelector: facts.nodeSelector }),
      ...(facts.tolerations === undefined ? {} : { tolerations: facts.tolerations }),
      ...facts.spec,
    },
    status: { phase: facts.phase ?? 'Pending' },
  };
}
