import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineKind, isRecord, s } from '@castellan/machinery';
import { registrationsOf } from './registrations.js';
import { webhook } from './webhook.js';

const Widget = defineKind({ group: 'example.com', version: 'v1', kind: 'Widget', spec: s.object({}) });

test('the API server is told of a webhook behind a Service with all that the handlers say, and of a conversion in its definition only', () => {
  const registrations = registrationsOf({
    name: 'widget-operator',
    address: { service: { name: 'hooks', namespace: 'operators' } },
    bundle: 'PEM',
    webhooks: [
      webhook(Widget, {
        validate: () => undefined,
        validates: ['DELETE'],
        failurePolicy: 'Ignore',
        timeoutSeconds: 3,
        asks: { namespaceSelector: { matchExpressions: [{ key: 'operators', operator: 'DoesNotExist' }] } },
      }),
    ],
    kinds: [Widget],
  });
  const service = { port: 443, name: 'hooks', namespace: 'operators' };
  assert.deepEqual(
    registrations.filter(({ isEmpty }) => isEmpty !== true).map(({ object }) => object),
    [
      {
        metadata: { name: 'widget-operator' },
        webhooks: [
          {
            name: 'validate.v1.widgets.example.com',
            admissionReviewVersions: ['v1'],
            clientConfig: { caBundle: 'UEVN', service: { ...service, path: '/validate/widgets.example.com/v1' } },
            failurePolicy: 'Ignore',
            matchPolicy: 'Equivalent',
            sideEffects: 'None',
            timeoutSeconds: 3,
            namespaceSelector: { matchExpressions: [{ key: 'operators', operator: 'DoesNotExist' }] },
            rules: [
              {
                apiGroups: ['example.com'],
                apiVersions: ['v1'],
                operations: ['DELETE'],
                resources: ['widgets'],
                scope: 'Namespaced',
              },
            ],
          },
        ],
      },
      {
        metadata: { name: 'widgets.example.com' },
        spec: {
          conversion: {
            strategy: 'Webhook',
            webhook: {
              clientConfig: { caBundle: 'UEVN', service: { ...service, path: '/convert' } },
              conversionReviewVersions: ['v1'],
            },
          },
        },
      },
    ],
  );
  // A definition that is not there yet is made with its conversion: at no time are objects of an older version taken without.
  const { object, whole } = registrations.at(-1) ?? {};
  assert.deepEqual(whole, { ...Widget.crd, spec: { ...Widget.crd.spec, ...specOf(object) } });
});

function specOf(object: unknown): object {
  assert.ok(isRecord(object) && isRecord(object.spec));
  return object.spec;
}
