import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
  await api.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
});
after(() => api.stop());

const pods = '/api/v1/namespaces/default/pods';
const container = { name: 'c', image: 'registry.example/app:1' };

/** What is wrong with a pod, without the words that every refusal begins with. */
async function problem(spec: Record<string, unknown>, annotations: Record<string, string> = {}): Promise<string> {
  const body = { metadata: { name: 'a', annotations }, spec: { containers: [container], ...spec } };
  const { json } = await api.send('POST', `${pods}?dryRun=All`, body);
  return String(json.message).replace('Pod "a" is invalid: ', '');
}

function inContainer(fields: Record<string, unknown>): Promise<string> {
  return problem({ containers: [{ ...container, ...fields }], volumes: [{ name: 'v' }] });
}

test('a volume has one source, and each source what it cannot do without', async () => {
  const volume = (source: Record<string, unknown>) => problem({ volumes: [{ name: 'v', ...source }] });
  const path = 'spec.volumes[0]';
  assert.equal(
    await volume({ emptyDir: {}, hostPath: { path: '/x' } }),
    `${path}.hostPath: Forbidden: may not specify more than 1 volume type`,
  );
  assert.equal(await volume({ secret: {} }), `${path}.secret.secretName: Required value`);
  assert.equal(
    await volume({ hostPath: { path: '/a/../b', type: 'Odd' } }),
    `[${path}.hostPath.path: Invalid value: "/a/../b": must not contain '..', ${path}.hostPath.type: Unsupported value: "Odd": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"]`,
  );
  assert.equal(
    await volume({ configMap: { name: 'c', defaultMode: 512 } }),
    `${path}.configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`,
  );
});

test('a mount names a volume of the pod and stays within it', async () => {
  const path = 'spec.containers[0].volumeMounts';
  assert.equal(
    await inContainer({ volumeMounts: [{ name: 'w', mountPath: '/x' }] }),
    `${path}[0].name: Not found: "w"`,
  );
  assert.equal(
    await inContainer({ volumeMounts: [{ name: 'v', mountPath: '/x', subPath: '../y' }] }),
    `${path}.subPath: Invalid value: "../y": must not contain '..'`,
  );
  assert.equal(
    await inContainer({ volumeMounts: [{ name: 'v', mountPath: '/x', mountPropagation: 'Bidirectional' }] }),
    `${path}.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
  );
});

test('a variable comes from one place that can be told', async () => {
  const path = 'spec.containers[0].env[0].valueFrom';
  const from = (valueFrom: unknown) => inContainer({ env: [{ name: 'A', valueFrom }] });
  assert.equal(
    await from({ fieldRef: { fieldPath: 'spec.restartPolicy' } }),
    `${path}.fieldRef.fieldPath: Unsupported value: "spec.restartPolicy": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`,
  );
  assert.equal(
    await from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '1k' } }),
    `${path}.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
  );
  assert.equal(
    await from({ fieldRef: { fieldPath: 'metadata.uid' }, secretKeyRef: { name: 's', key: 'k' } }),
    `${path}: Invalid value: "": may not have more than one field specified at a time`,
  );
});

test('only init containers that restart always have probes, and no other container says how it restarts when all fails', async () => {
  const init = { ...container, name: 'i' };
  const readinessProbe = { exec: { command: ['x'] } };
  assert.equal(
    await problem({ initContainers: [{ ...init, readinessProbe }] }),
    'spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
  );
  assert.equal(await problem({ initContainers: [{ ...init, restartPolicy: 'Always', readinessProbe }] }), 'undefined');
  assert.equal(
    await inContainer({ readinessProbe: { ...readinessProbe, terminationGracePeriodSeconds: 1 } }),
    'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes',
  );
});

test('a security context cannot contradict itself', async () => {
  assert.equal(
    await inContainer({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
  );
  assert.equal(
    await problem({ hostNetwork: true, securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } }),
    `spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true`,
  );
  assert.equal(
    await problem({ os: { name: 'windows' }, securityContext: { fsGroup: 1 } }),
    'spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod',
  );
});

test('a pod that resolves names by itself says how', async () => {
  assert.equal(
    await problem({ dnsPolicy: 'None' }),
    'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
  );
  assert.equal(
    await problem({ dnsConfig: { nameservers: ['x'] } }),
    'spec.dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  );
});

test('an AppArmor annotation becomes the field that took its place', async () => {
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default' };
  const body = { metadata: { name: 'confined', annotations }, spec: { containers: [container] } };
  const { json } = await api.send('POST', pods, body);
  assert.deepEqual(json.spec.containers[0].securityContext, { appArmorProfile: { type: 'RuntimeDefault' } });
});

test('a pod behind a gate says why it is not scheduled, and may be told more closely where to run', async () => {
  const spec = { containers: [container], schedulingGates: [{ name: 'g' }], nodeSelector: { a: 'b' } };
  const { json } = await api.send('POST', pods, { metadata: { name: 'gated' }, spec });
  assert.equal(json.status.conditions[0].reason, 'SchedulingGated');
  const merge = { 'content-type': 'application/merge-patch+json' };
  const patch = (nodeSelector: unknown) => api.send('PATCH', `${pods}/gated`, { spec: { nodeSelector } }, merge);
  assert.equal((await patch({ c: 'd' })).status, 200);
  assert.equal((await patch({ a: 'x' })).status, 422);
});

test('a refused update of a pod shows what differs', async () => {
  const spec = { containers: [container], automountServiceAccountToken: false };
  await api.send('POST', pods, { metadata: { name: 'fixed' }, spec });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const { json } = await api.send('PATCH', `${pods}/fixed`, { spec: { restartPolicy: 'Never' } }, merge);
  assert.equal(
    json.message.split('\n').slice(1).join('\n'),
    [
      '@@ -35,7 +35,7 @@',
      '   }',
      '  ],',
      '  "EphemeralContainers": null,',
      '- "RestartPolicy": "Always",',
      '+ "RestartPolicy": "Never",',
      '  "TerminationGracePeriodSeconds": 30,',
      '  "ActiveDeadlineSeconds": null,',
      '  "DNSPolicy": "ClusterFirst",',
      '',
    ].join('\n'),
  );
});

test('the ports of a pod in its node’s network are those of the node', async () => {
  const ports = [{ containerPort: 8080 }];
  const spec = { hostNetwork: true, containers: [{ ...container, ports }] };
  const { json } = await api.send('POST', pods, { metadata: { name: 'on-node' }, spec });
  assert.equal(json.spec.containers[0].ports[0].hostPort, 8080);
});

test('pods of a StatefulSet mount the claims that are made for them', async () => {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ ...container, volumeMounts }] } };
  const spec = {
    selector: { matchLabels: { app: 'a' } },
    template,
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
  };
  const sets = '/apis/apps/v1/namespaces/default/statefulsets';
  const made = await api.send('POST', sets, { metadata: { name: 'a' }, spec });
  assert.equal(made.status, 201);
  assert.equal(made.json.spec.template.spec.volumes, undefined);
  const refused = await api.send('POST', sets, {
    metadata: { name: 'b' },
    spec: { ...spec, volumeClaimTemplates: [] },
  });
  assert.equal(
    refused.json.message,
    'StatefulSet.apps "b" is invalid: spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"',
  );
});
