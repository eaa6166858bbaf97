const labels = { app: 'web' };
const near = (topologyKey) => ({ labelSelector: { matchLabels: labels }, topologyKey });
const constraint = (topologyKey) => ({ ...near(topologyKey), maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' });
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '00000000-0000-4000-8000-000000000001' };

/** Pods as they come from one template, each kind with more to decide. */
export const templates = [
  { name: 'with requests', podOf: () => pod({}) },
  {
    name: 'of one controller: spread by default',
    podOf: () => pod({}, { ownerReferences: [{ ...owner, controller: true }] }),
  },
  {
    name: 'with topology spread constraints over hosts and zones',
    podOf: () =>
      pod({
        topologySpreadConstraints: [
          constraint('kubernetes.io/hostname'),
          { ...constraint('topology.kubernetes.io/zone'), maxSkew: 2 },
        ],
      }),
  },
  {
    name: 'that rather have no sibling on their host, and must be in one region',
    podOf: () =>
      pod({
        affinity: {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near('region')] },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 100, podAffinityTerm: near('kubernetes.io/hostname') },
            ],
          },
        },
      }),
  },
];

function pod(spec, metadata = {}) {
  const resources = { requests: { cpu: '10m', memory: '16Mi' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'web-', namespace: 'default', labels, ...metadata },
    spec: { containers: [{ name: 'main', image: 'busybox', resources }], ...spec },
  };
}
