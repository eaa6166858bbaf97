/** A pod as the API gives it, of about `size` bytes of JSON; one of 200 replica sets, which differ in their settings. */
export function podOf(at, size, revision) {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `web-${at}`,
      namespace: `team-${at % 50}`,
      uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      resourceVersion: String(revision),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'web', tier: 'front', 'pod-template-hash': '7d4b9c6f5' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: `rs-${at % 200}`, controller: true },
      ],
      managedFields: [],
    },
    spec: {
      nodeName: `node-${at % 100}`,
      containers: ['main', 'sidecar'].map((name) => ({
        name,
        image: `registry/${name}:1.0`,
        env: [],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      })),
      volumes: [{ name: 'data', emptyDir: {} }],
    },
    status: {
      phase: 'Running',
      podIP: `10.0.${at % 250}.${at % 199}`,
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: `2026-01-01T00:${String(at % 60).padStart(2, '0')}:05Z`,
      })),
    },
  };
  for (let index = 0; JSON.stringify(pod).length < size; index += 1) {
    pod.spec.containers[index % 2].env.push({ name: `SETTING_${index}`, value: `value ${index} of ${at % 200}` });
  }
  return pod;
}

/** What PartialObjectMetadata of a pod is. */
export function metadataOnly({ metadata }) {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
}
