import type { Pod, Service } from '@castellan/machinery';

export function service(spec: Partial<NonNullable<Service['spec']>> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'etcd', uid: 'uid-service', labels: { app: 'etcd' } },
    spec: { selector: { app: 'etcd' }, ports: [{ name: 'client', port: 2379 }], ...spec },
  };
}

export interface PodFacts {
  readonly ip?: string;
  readonly ipv6?: string;
  readonly isReady?: boolean;
  readonly isDeleted?: boolean;
  readonly phase?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly portName?: string;
  readonly containerPort?: number;
  readonly labels?: Readonly<Record<string, string>>;
}

export function pod(name: string, facts: PodFacts = {}): Pod {
  const { ip = '10.0.0.1', ipv6 } = facts;
  const ports = [{ name: facts.portName ?? 'etcd', containerPort: facts.containerPort ?? 2379 }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      labels: facts.labels ?? { app: 'etcd' },
      ...(facts.isDeleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      nodeName: 'node',
      containers: [{ name: 'etcd', ports }],
      ...(facts.hostname === undefined ? {} : { hostname: facts.hostname }),
      ...(facts.subdomain === undefined ? {} : { subdomain: facts.subdomain }),
    },
    status: {
      phase: facts.phase ?? 'Running',
      podIPs: [...(ip === '' ? [] : [{ ip }]), ...(ipv6 === undefined ? [] : [{ ip: ipv6 }])],
      conditions: [{ type: 'Ready', status: facts.isReady === false ? 'False' : 'True' }],
    },
  };
}
