/** A request as it is before it goes wrong. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const podSpec = {
  containers: [
    {
      name: 'c',
      image: 'registry.example/app:1',
      ports: [{ containerPort: 80, name: 'http' }],
      env: [
        { name: 'A', value: '1' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: 1 } },
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 },
      securityContext: { runAsUser: 1000, capabilities: { drop: ['ALL'] } },
    },
  ],
  volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }],
  tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 }],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
        },
      ],
    },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
    },
  ],
};
const template = { metadata: { labels: { app: 'a' } }, spec: podSpec };
const selector = { matchLabels: { app: 'a' } };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** Collections, and an object of each. */
const kinds: readonly (readonly [collection: string, object: object])[] = [
  ['/api/v1/namespaces/default/configmaps', { data: { k: 'v' }, binaryData: { b: 'AAAA' }, immutable: false }],
  ['/api/v1/namespaces/default/secrets', { type: 'Opaque', stringData: { a: 'b' }, data: { k: 'AAAA' } }],
  ['/api/v1/namespaces/default/pods', { spec: podSpec }],
  [
    '/api/v1/namespaces/default/services',
    { spec: { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 'http' }] } },
  ],
  ['/api/v1/namespaces/default/serviceaccounts', { secrets: [{ name: 's' }], automountServiceAccountToken: false }],
  ['/api/v1/namespaces/default/persistentvolumeclaims', { spec: claim }],
  ['/api/v1/namespaces/default/replicationcontrollers', { spec: { replicas: 1, selector: { app: 'a' }, template } }],
  ['/api/v1/namespaces/default/endpoints', { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] }],
  [
    '/api/v1/namespaces/default/events',
    { involvedObject: { kind: 'Pod', namespace: 'default', name: 'x' }, reason: 'R' },
  ],
  ['/api/v1/namespaces/default/limitranges', { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } }],
  ['/api/v1/namespaces', {}],
  ['/api/v1/nodes', { spec: { podCIDR: '10.0.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] } }],
  ['/api/v1/persistentvolumes', { spec: { ...claim, capacity: { storage: '1Gi' }, hostPath: { path: '/d' } } }],
  ['/apis/apps/v1/namespaces/default/deployments', { spec: { replicas: 2, selector, template } }],
  [
    '/apis/apps/v1/namespaces/default/statefulsets',
    {
      spec: { serviceName: 's', selector, template, volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: claim }] },
    },
  ],
  ['/apis/apps/v1/namespaces/default/daemonsets', { spec: { selector, template } }],
  ['/apis/apps/v1/namespaces/default/replicasets', { spec: { selector, template } }],
  ['/apis/batch/v1/namespaces/default/jobs', { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } }],
  [
    '/apis/batch/v1/namespaces/default/cronjobs',
    {
      spec: {
        schedule: '*/5 * * * *',
        timeZone: 'Etc/UTC',
        jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } },
      },
    },
  ],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    {
      spec: {
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'a', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  ],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }] } },
  ],
  [
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    },
  ],
  ['/apis/policy/v1/namespaces/default/poddisruptionbudgets', { spec: { minAvailable: '50%', selector } }],
  [
    '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    { spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } },
  ],
  [
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
    },
  ],
  ['/apis/storage.k8s.io/v1/storageclasses', { provisioner: 'x.example/y', parameters: { a: 'b' } }],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', { value: 7 }],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    {
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
          ],
        },
        validations: [{ expression: 'object.spec.replicas <= 3', message: 'at most three' }],
      },
    },
  ],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      spec: {
        group: 'fuzz.example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      size: { type: 'integer', minimum: 1, default: 3 },
                      port: { 'x-kubernetes-int-or-string': true },
                      tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                      text: { type: 'string', pattern: '^[a-z]+$', maxLength: 9 },
                      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                      items: {
                        type: 'array',
                        'x-kubernetes-list-type': 'map',
                        'x-kubernetes-list-map-keys': ['name'],
                        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
                      },
                    },
                    'x-kubernetes-validations': [{ rule: 'self.size < 9', message: 'too big' }],
                  },
                },
              },
            },
            subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
            additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
          },
        ],
      },
    },
  ],
  [
    '/apis/fuzz.example.com/v1/namespaces/default/widgets',
    {
      apiVersion: 'fuzz.example.com/v1',
      kind: 'Widget',
      spec: { size: 2, port: 'http', tags: ['a'], text: 'abc', free: { a: [1] }, items: [{ name: 'x' }] },
    },
  ],
];

/** Questions that are asked by POST and never kept. */
const reviews: readonly (readonly [path: string, object: object])[] = [
  [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    { spec: { user: 'u', groups: ['g'], resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } } },
  ],
  ['/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }],
  ['/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'a.b.c', audiences: ['x'] } }],
  ['/api/v1/namespaces/default/serviceaccounts/default/token', { spec: { audiences: ['a'], expirationSeconds: 3600 } }],
  [
    '/api/v1/namespaces/default/pods/seed/eviction',
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'seed' } },
  ],
  ['/api/v1/namespaces/default/pods/seed/binding', { target: { kind: 'Node', name: 'n' } }],
];

const reads: readonly (readonly [path: string, query: string])[] = [
  ['/', ''],
  ['/api', ''],
  ['/apis', ''],
  ['/apis/apps/v1', ''],
  ['/openapi/v2', ''],
  ['/openapi/v3', ''],
  ['/openapi/v3/apis/apps/v1', ''],
  ['/version', ''],
  ['/readyz', 'verbose=1'],
  ['/metrics', ''],
  ['/api/v1/pods', 'limit=2&fieldSelector=status.phase%3DRunning'],
  [
    '/api/v1/namespaces/default/configmaps',
    'labelSelector=a%20in%20(b,c),!d&resourceVersion=0&resourceVersionMatch=NotOlderThan',
  ],
  ['/api/v1/namespaces/default/configmaps', 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=1'],
  ['/api/v1/pods', 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'],
  ['/api/v1/watch/namespaces/default/pods', 'timeoutSeconds=1'],
  ['/api/v1/namespaces/default/pods/seed/log', 'tailLines=5'],
  ['/apis/apps/v1/namespaces/default/deployments/seed/scale', ''],
];

const encoder = new TextEncoder();
const nothing = new Uint8Array();

function request(
  method: string,
  path: string,
  query = '',
  body?: unknown,
  contentType = 'application/json',
): FuzzRequest {
  if (body === undefined) return { method, path, query, headers: {}, body: nothing };
  const bytes = typeof body === 'string' ? encoder.encode(body) : encoder.encode(JSON.stringify(body));
  return { method, path, query, headers: { 'content-type': contentType }, body: bytes };
}

/** What kubectl 1.32 sends for `kubectl create configmap a --from-literal=k=v --namespace default`. */
const protobufConfigMap = Buffer.from(
  '6b3873000a0f0a0276311209436f6e6669674d617012220a180a016112001a0764656661756c7422002a0032003800420012060a016b1201761a002200',
  'hex',
);

const seedName = 'seed';

function nameFor(collection: string): string {
  return collection.endsWith('customresourcedefinitions') ? 'widgets.fuzz.example.com' : seedName;
}

/** Creates the objects that most of the others are about. */
export const firstRequests: readonly FuzzRequest[] = [
  request('POST', '/api/v1/namespaces/default/serviceaccounts', '', { metadata: { name: 'default' } }),
  ...kinds.map(([path, object]) => request('POST', path, '', { metadata: { name: nameFor(path) }, ...object })),
];

/** Requests of every verb, each of which the server knows how to answer. */
export const validRequests: readonly FuzzRequest[] = [
  ...reads.map(([path, query]) => request('GET', path, query)),
  ...reviews.map(([path, object]) => request('POST', path, '', object)),
  {
    ...request('POST', '/api/v1/namespaces/default/configmaps'),
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: protobufConfigMap,
  },
  request(
    'POST',
    '/api/v1/namespaces/default/configmaps',
    '',
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: y-\ndata: {a: "1", b: [x]}\n',
    'application/yaml',
  ),
  ...kinds.flatMap(([path, object]) => {
    const one = `${path}/${nameFor(path)}`;
    const whole = { metadata: { name: nameFor(path), labels: { l: 'm' }, annotations: { n: 'o' } }, ...object };
    const applied = { ...typeOf(path), ...whole };
    return [
      request('POST', path, 'dryRun=All', { ...object, metadata: { generateName: 'fuzz-' } }),
      request('PUT', one, 'fieldManager=fuzz', whole),
      request('PATCH', one, '', { ...object, metadata: { labels: { a: null } } }, 'application/merge-patch+json'),
      request('PATCH', one, '', whole, 'application/strategic-merge-patch+json'),
      request(
        'PATCH',
        one,
        '',
        [
          { op: 'add', path: '/metadata/labels', value: { b: 'c' } },
          { op: 'test', path: '/metadata/name', value: seedName },
        ],
        'application/json-patch+json',
      ),
      request('PATCH', one, 'fieldManager=fuzz&force=true', applied, 'application/apply-patch+yaml'),
      request(
        'PATCH',
        `${one}/status`,
        '',
        { status: { conditions: [{ type: 'A', status: 'True' }], replicas: 1 } },
        'application/merge-patch+json',
      ),
      request('GET', one),
      { ...request('GET', path), headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
      request('DELETE', one, 'dryRun=All', { propagationPolicy: 'Background', preconditions: { uid: 'x' } }),
    ];
  }),
];

/** Kinds by the plurals above, as applied objects must name theirs. */
function typeOf(collection: string): object {
  const [, root, ...rest] = collection.split('/');
  const apiVersion = root === 'api' ? rest[0] : `${rest[0]}/${rest[1]}`;
  const names: Readonly<Record<string, string>> = {
    configmaps: 'ConfigMap',
    deployments: 'Deployment',
    pods: 'Pod',
    services: 'Service',
    statefulsets: 'StatefulSet',
    widgets: 'Widget',
    jobs: 'Job',
    ingresses: 'Ingress',
  };
  return { apiVersion, kind: names[rest.at(-1) ?? ''] ?? 'Unknown' };
}
