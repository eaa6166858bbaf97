import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusalOf } from './refusal-of.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const refused = (spec: object) =>
  refusalOf(api, '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
    metadata: { name: 'a' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3, ...spec },
  });

test('what an autoscaler scales has a kind, a name and a version with its group', async () => {
  assert.deepEqual(await refused({ scaleTargetRef: { apiVersion: 'apps/v1/x', kind: 'a/b' }, maxReplicas: -1 }), [
    'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
    'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
    'spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\'',
    'spec.scaleTargetRef.name: Required value',
    'spec.scaleTargetRef.apiVersion: Invalid value: "apps/v1/x": unexpected GroupVersion string: apps/v1/x',
  ]);
});

test('a metric of no type is told so, and twice which types there are', async () => {
  const supported = 'supported values: "ContainerResource", "External", "Object", "Pods", "Resource"';
  assert.deepEqual(await refused({ metrics: [{}] }), [
    'spec.metrics[0].type: Required value: must specify a metric source type',
    `spec.metrics[0].type: Unsupported value: "": ${supported}`,
    `spec.metrics[0].type: Unsupported value: "": ${supported}`,
  ]);
});

test('each type of metric has what it measures and what it aims at', async () => {
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0 } } },
    { type: 'Pods', pods: { metric: { name: 'a/b' }, target: { type: 'Value', value: '0' } } },
    { type: 'External', external: { metric: { name: 'a' }, target: { type: 'Value', value: '1', averageValue: '1' } } },
    { type: 'ContainerResource', containerResource: { name: 'foo', target: { type: 'X', averageValue: '1' } } },
    {
      type: 'Object',
      object: { describedObject: {}, metric: {}, target: {} },
      pods: { metric: { name: 'a' }, target: { type: 'AverageValue', averageValue: '1' } },
    },
  ];
  const path = 'spec.metrics';
  assert.deepEqual(await refused({ metrics }), [
    `${path}[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
    `${path}[1].pods.metric.name: Invalid value: "a/b": may not contain '/'`,
    `${path}[1].pods.target.value: Invalid value: "0": must be positive`,
    `${path}[1].pods.target.averageValue: Required value: must specify a positive target averageValue`,
    `${path}[2].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target`,
    `${path}[3].containerResource.name: Invalid value: "foo": must be a standard resource type or fully qualified`,
    `${path}[3].containerResource.name: Invalid value: "foo": must be a standard resource for containers`,
    `${path}[3].containerResource.container: Required value: must specify a container`,
    `${path}[3].containerResource.target.type: Invalid value: "X": must be either Utilization, Value, or AverageValue`,
    `${path}[4].object.describedObject.kind: Required value`,
    `${path}[4].object.describedObject.name: Required value`,
    `${path}[4].object.describedObject.apiVersion: Invalid value: "": apiVersion must specify API group`,
    `${path}[4].object.metric.name: Required value: must specify a metric name`,
    `${path}[4].object.target.type: Required value: must specify a metric target type`,
    `${path}[4].object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue`,
    `${path}[4].object.target.averageValue: Required value: must set either a target value or averageValue`,
    `${path}[4].pods: Forbidden: must populate the given metric source only`,
  ]);
});

test('how fast pods come and go has limits', async () => {
  const behavior = {
    scaleUp: {
      stabilizationWindowSeconds: -1,
      selectPolicy: 'X',
      policies: [{ type: 'Y', value: 0, periodSeconds: 0 }],
    },
    scaleDown: { stabilizationWindowSeconds: 3601, policies: [{ type: 'Pods', value: 1, periodSeconds: 1801 }] },
  };
  const path = 'spec.behavior';
  assert.deepEqual(await refused({ behavior }), [
    `${path}.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero`,
    `${path}.scaleUp.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"`,
    `${path}.scaleUp.policies[0].type: Unsupported value: "Y": supported values: "Percent", "Pods"`,
    `${path}.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero`,
    `${path}.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero`,
    `${path}.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600`,
    `${path}.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800`,
  ]);
});
