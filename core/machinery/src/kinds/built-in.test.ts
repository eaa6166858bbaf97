import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceName, resourcePath } from '../resource-type.js';
import { leases, type Pod, pods } from './built-in.js';
import { customResourceDefinitions } from './custom-resource-definition.js';

test('a resource type gives the paths that the API server serves it at', () => {
  assert.equal(
    resourcePath(pods, { namespace: 'default', name: 'a', subresource: 'log' }),
    '/api/v1/namespaces/default/pods/a/log',
  );
  assert.equal(resourcePath(leases), '/apis/coordination.k8s.io/v1/leases');
  assert.equal(resourceName(customResourceDefinitions), 'customresourcedefinitions.apiextensions.k8s.io');
});

test('a pod is typed all the way down and read-only', () => {
  const pod: Pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'main', image: 'etcd' }] } };
  // @ts-expect-error: what is read from a cache is never changed in place
  const change = (other: Pod) => other.spec?.containers.push({ name: 'x' });
  assert.equal(typeof change, 'function');
  assert.equal(pod.spec?.containers[0]?.image, 'etcd');
});
