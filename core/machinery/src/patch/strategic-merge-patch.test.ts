import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StatusError } from '../status-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { deepFreeze } from '../value/deep-freeze.js';
import { mergeRulesOf } from './merge-keys.js';
import { applyStrategicMergePatch } from './strategic-merge-patch.js';

const deployment = mergeRulesOf({ group: 'apps', kind: 'Deployment' });

/** Patches the pod spec of a deployment. The expected results are those of kube-apiserver 1.36. */
function patchPodSpec(spec: unknown, patch: unknown): unknown {
  const patched = applyStrategicMergePatch(
    deepFreeze({ spec: { template: { spec } } }),
    { spec: { template: { spec: patch } } },
    deployment,
  );
  return JSON.parse(JSON.stringify(patched)).spec.template.spec;
}

const c = { name: 'c', image: 'x:1', args: ['one', 'two'] };
const d = { name: 'd', image: 'y:1' };

test('elements are merged by their key; new ones come before those that only the server has', () => {
  assert.deepEqual(patchPodSpec({ containers: [c, d] }, { containers: [{ name: 'c', image: 'x:2' }] }), {
    containers: [{ ...c, image: 'x:2' }, d],
  });
  assert.deepEqual(patchPodSpec({ containers: [c, d] }, { containers: [{ name: 'e', image: 'e' }] }), {
    containers: [{ name: 'e', image: 'e' }, c, d],
  });
  assert.deepEqual(
    patchPodSpec(
      {
        containers: [
          {
            name: 'c',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          },
        ],
      },
      {
        containers: [
          {
            name: 'c',
            env: [
              { name: 'B', value: '22' },
              { name: 'C', value: '3' },
            ],
          },
        ],
      },
    ),
    {
      containers: [
        {
          name: 'c',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '22' },
            { name: 'C', value: '3' },
          ],
        },
      ],
    },
  );
});

test('ports are told apart by containerPort in a container and by port in a service', () => {
  const ports = [
    { containerPort: 80, name: 'http' },
    { containerPort: 81, name: 'alt' },
  ];
  assert.deepEqual(
    patchPodSpec(
      { containers: [{ name: 'c', ports }] },
      { containers: [{ name: 'c', ports: [{ containerPort: 80, name: 'web' }] }] },
    ),
    { containers: [{ name: 'c', ports: [{ containerPort: 80, name: 'web' }, ports[1]] }] },
  );
  const service = mergeRulesOf({ group: '', kind: 'Service' });
  const merged = applyStrategicMergePatch(
    {
      spec: {
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2 },
        ],
      },
    },
    {
      spec: {
        ports: [
          { port: 2, targetPort: 99 },
          { name: 'c', port: 3 },
        ],
      },
    },
    service,
  );
  assert.deepEqual(merged, {
    spec: {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2, targetPort: 99 },
        { name: 'c', port: 3 },
      ],
    },
  });
  const ordered = applyStrategicMergePatch(
    merged,
    { spec: { '$setElementOrder/ports': [{ port: 3 }, { port: 1 }], ports: [{ port: 2, $patch: 'delete' }] } },
    service,
  );
  assert.deepEqual(ordered, {
    spec: {
      ports: [
        { name: 'c', port: 3 },
        { name: 'a', port: 1 },
      ],
    },
  });
});

test('a list without a merge key is replaced', () => {
  assert.deepEqual(patchPodSpec({ containers: [c] }, { containers: [{ name: 'c', args: ['three'] }] }), {
    containers: [{ ...c, args: ['three'] }],
  });
  assert.deepEqual(patchPodSpec({ tolerations: [{ key: 'a' }] }, { tolerations: [{ key: 'b' }] }), {
    tolerations: [{ key: 'b' }],
  });
});

test('$patch deletes and replaces elements, and empties or replaces objects', () => {
  assert.deepEqual(patchPodSpec({ containers: [c, d] }, { containers: [{ name: 'd', $patch: 'delete' }] }), {
    containers: [c],
  });
  assert.deepEqual(patchPodSpec({ containers: [c, d] }, { containers: [{ $patch: 'replace' }, { name: 'only' }] }), {
    containers: [{ name: 'only' }],
  });
  assert.deepEqual(patchPodSpec({ nodeSelector: { a: 'b' } }, { nodeSelector: { $patch: 'replace', c: 'd' } }), {
    nodeSelector: { c: 'd' },
  });
  assert.deepEqual(patchPodSpec({ securityContext: { a: 1 } }, { securityContext: { $patch: 'delete' } }), {
    securityContext: {},
  });
  assert.deepEqual(patchPodSpec({ nodeSelector: { a: 'b', q: 'r' } }, { nodeSelector: { q: null } }), {
    nodeSelector: { a: 'b' },
  });
});

test('$retainKeys removes what it does not name', () => {
  assert.deepEqual(
    patchPodSpec(
      { volumes: [{ name: 'v', emptyDir: {} }] },
      { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'm' } }] },
    ),
    { volumes: [{ name: 'v', configMap: { name: 'm' } }] },
  );
});

test('$setElementOrder puts a list in order, with or without changes to it', () => {
  const order = { '$setElementOrder/containers': [{ name: 'd' }, { name: 'c' }] };
  assert.deepEqual(patchPodSpec({ containers: [c, d] }, { ...order, containers: [{ name: 'c', image: 'x:3' }] }), {
    containers: [d, { ...c, image: 'x:3' }],
  });
  assert.deepEqual(patchPodSpec({ containers: [c, d] }, order), { containers: [d, c] });
});

test('finalizers are a set: added to in front, deleted from by directive', () => {
  const patch = (finalizers: readonly string[], metadata: unknown) =>
    applyStrategicMergePatch({ metadata: { finalizers } }, { metadata }, deployment);
  assert.deepEqual(patch(['a', 'b'], { finalizers: ['c'] }), { metadata: { finalizers: ['c', 'a', 'b'] } });
  assert.deepEqual(patch(['c', 'a', 'b'], { '$deleteFromPrimitiveList/finalizers': ['a'] }), {
    metadata: { finalizers: ['c', 'b'] },
  });
  assert.deepEqual(patch(['b', 'c'], { '$setElementOrder/finalizers': ['c', 'b'] }), {
    metadata: { finalizers: ['c', 'b'] },
  });
});

test('some kinds treat a field otherwise than the rest', () => {
  const selector = { spec: { selector: { matchLabels: { a: '1' } } } };
  const patch = { spec: { selector: { matchLabels: { b: '2' } } } };
  assert.deepEqual(
    applyStrategicMergePatch(selector, patch, mergeRulesOf({ group: 'policy', kind: 'PodDisruptionBudget' })),
    patch,
  );
  assert.deepEqual(applyStrategicMergePatch(selector, patch, deployment), {
    spec: { selector: { matchLabels: { a: '1', b: '2' } } },
  });
});

test('a patch that makes no sense is refused in the words of kube-apiserver', () => {
  const examples: readonly (readonly [unknown, number, string])[] = [
    [{ containers: [{ image: 'x' }] }, 500, 'map: map[image:x] does not contain declared merge key: name'],
    [{ containers: [{ name: 'c', $patch: 'odd' }] }, 500, 'unknown patch type: odd in map: map[$patch:odd name:c]'],
    [{ volumes: [{ name: 'v', $retainKeys: ['x'] }] }, 400, 'invalid patch format of retainKeys'],
    [
      { '$setElementOrder/containers': [{ name: 'zz' }], containers: [{ name: 'yy', image: 'x' }] },
      500,
      "The order in patch list:\n[map[image:x name:yy]]\n doesn't match $setElementOrder list:\n[map[name:zz]]\n",
    ],
  ];
  for (const [patch, code, message] of examples) {
    assert.throws(
      () => patchPodSpec({ containers: [c], volumes: [{ name: 'v' }] }, patch),
      (error) => error instanceof StatusError && error.code === code && error.message === message,
      message,
    );
  }
});

const name = fc.constantFrom('a', 'b', 'c', 'd');
const containers = fc.uniqueArray(fc.record({ name, image: fc.constantFrom('x', 'y') }, { noNullPrototype: true }), {
  selector: (each) => each.name,
});

test('applying a patch twice is as applying it once', () => {
  fc.assert(
    fc.property(containers, containers, fc.array(name), (before, patch, deleted) => {
      const additions = patch.filter((each) => !deleted.includes(each.name));
      const body = {
        containers: [...additions, ...[...new Set(deleted)].map((each) => ({ name: each, $patch: 'delete' }))],
      };
      const once = patchPodSpec({ containers: before }, body);
      assert.ok(deepEqual(patchPodSpec(once, body), once));
    }),
  );
});

test('a patch reaches no prototype', () => {
  const merged = applyStrategicMergePatch({}, JSON.parse('{"__proto__":{"polluted":1}}'), deployment);
  assert.equal(Reflect.get(merged ?? {}, 'polluted'), undefined);
  assert.equal(JSON.stringify(merged), '{"__proto__":{"polluted":1}}');
});
